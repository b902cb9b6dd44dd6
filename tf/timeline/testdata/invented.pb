
¶
â
)/job:worker/replica:0/task:0/device:CPU:0j

RecvTensord(*:€"€cpu €(B<[1024B] edge_160_w from /job:ps/task:3 to /job:worker/task:0o
aZ(:d"cpu (:ÿÿÿÿÿÿÿÿÿ"cpuB-[cpu 1.0MB 1.0MB] a = Op(RecvTensor, b:1, ^c))
odd(:"cpuBno label-
a(:
"(cpuBa = Op(a, a:1)
¬
)/job:worker/replica:0/task:0/device:GPU:06
mx(:"Pgpu_bfcBm = MatMul(a/_12, x)G
n}(	:"Pgpu_bfc:"Pgpu_bfcB
n = Neg(m)
g
/device:GPU:0/stream:all!
m:MatMul‚(Bgemm@@m:MatMul#1
m:MatMulª(Bgemm2
k (Bkernel
7
/device:GPU:0/memcpy
edgex(Bcopy@@edge:MEMCPY#x