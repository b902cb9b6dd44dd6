"""Writes modules.pb.gz: programs of JAX as XlaCallModule has them, with inputs and what
TensorFlow computes of them. It takes JAX 0.7.2 with jax2tf and TensorFlow 2.21:

    python make.py [FILE [PART_OF_A_NAME]]

The file is one GraphDef: for each case NAME a node NAME/call, constants NAME/in_0, ... to
be fed to NAME/x_0, ..., and constants NAME/want_0, ....
"""
import gzip
import os
import sys

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['JAX_ENABLE_X64'] = '1'
import jax
import jax.numpy as jnp
import numpy as np
import tensorflow as tf
from jax import export, lax
from jax._src.export import _export
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir, passmanager
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

FILE = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), 'modules.pb.gz')
ONLY = sys.argv[2] if len(sys.argv) > 2 else ''
GRAPH = tf.compat.v1.GraphDef()


def module(e):
    """Returns the module of e without what says where in the program its parts are from."""
    with mlir.make_ir_context():
        m = ir.Module.parse(e.mlir_module())
        passmanager.PassManager.parse('builtin.module(strip-debuginfo)').run(m.operation)
        return _export._module_to_bytecode(m)


def case(name, f, *args, poly=None):
    """Adds f of args as a case; poly has the shapes of arguments in terms of variables."""
    if ONLY not in name:
        return
    args = [np.asarray(a) for a in args]
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args]
    if poly:
        specs = export.symbolic_args_specs(tuple(specs), poly)
    e = export.export(jax.jit(f, keep_unused=True), platforms=['cpu'])(*specs)
    tout = [tf.as_dtype(np.dtype(o.dtype)) for o in e.out_avals]
    sout = [[d if isinstance(d, int) else None for d in o.shape] for o in e.out_avals]
    g = tf.Graph()
    with g.as_default(), tf.name_scope(name):
        for i, a in enumerate(args):
            tf.constant(a, name='in_%d' % i)
        xs = [tf.compat.v1.placeholder(a.dtype, [None] * a.ndim if poly else a.shape, name='x_%d' % i) for i, a in enumerate(args)]
        y = gen_xla_ops.xla_call_module(args=xs, version=max(9, e.calling_convention_version), module=module(e),
                                        Sout=sout, Tout=tout, platforms=['CPU'], name='call')
        with tf.compat.v1.Session() as s:
            want = s.run(y, dict(zip(xs, args)))
        for i, w in enumerate(want):
            tf.constant(w, name='want_%d' % i)
    GRAPH.MergeFrom(g.as_graph_def())


r = np.random.RandomState(0)
bf = jnp.bfloat16


def F(*s):
    return r.randn(*s).astype(np.float32)


special=np.array([0.,-0.,1,-1,.5,-.5,1.5,2.5,-2.5,np.inf,-np.inf,np.nan,1e-30,3e9,-3e9,0.49999997],np.float32)
un={'abs':jnp.abs,'cbrt':jnp.cbrt,'ceil':jnp.ceil,'cos':jnp.cos,'exp':jnp.exp,'expm1':jnp.expm1,'floor':jnp.floor,'isfinite':jnp.isfinite,'log':jnp.log,'log1p':jnp.log1p,
'logistic':lax.logistic,'neg':lax.neg,'round':lambda x: lax.round(x,lax.RoundingMethod.AWAY_FROM_ZERO),'rint':jnp.round,'rsqrt':lax.rsqrt,'sign':jnp.sign,'sin':jnp.sin,'sqrt':jnp.sqrt,'tan':jnp.tan,'tanh':jnp.tanh,'erf':jax.scipy.special.erf}
def each(fs):
    return lambda *a: tuple(f(*a) for f in fs)


case('unary_f32',each(un.values()),np.concatenate([special[:9],F(20)]))
case('unary_special',each(f for n,f in un.items() if n not in ('cos','sin','tan')),special)
case('unary_f64',each(un.values()),r.randn(7))
case('unary_bf16',each(un.values()),F(9).astype(bf))
case('unary_f16',each(un.values()),F(9).astype(np.float16))
case('unary_c64',each(un[n] for n in ['abs','cos','exp','log','sqrt','tanh','neg','rsqrt','sin','expm1','log1p','logistic']),(F(5)+1j*F(5)).astype(np.complex64))
ints={'i8':np.int8,'i16':np.int16,'i32':np.int32,'i64':np.int64,'u8':np.uint8,'u16':np.uint16,'u32':np.uint32,'u64':np.uint64}
for n,d in ints.items():
    ii=np.iinfo(d)
    a=np.array([0,1,2,3,7,100,ii.max,ii.min,ii.max-1,5,9,ii.min+(1 if ii.min else 3)],d)
    b=np.array([0,1,3,2,5,7,2,1,ii.max,0,8 if d!=np.int8 else 8,4],d)
    if ii.min<0: b=np.where(np.arange(12)==7,-1,b).astype(d)
    bl=[('add',lax.add),('sub',lax.sub),('mul',lax.mul),('div',lax.div),('rem',lax.rem),('max',lax.max),('min',lax.min),('and',lax.bitwise_and),('or',lax.bitwise_or),('xor',lax.bitwise_xor),('lt',lax.lt),('ge',lax.ge),('eq',lax.eq),
      ('shl',lax.shift_left),('sra',lax.shift_right_arithmetic),('srl',lax.shift_right_logical)]
    case('binary_'+n,each(f for m,f in bl),a,b)
    case('b_divc_'+n,lambda x: x//3+x%4,a)
    case('unary_'+n,each([lax.neg,lax.bitwise_not,lax.sign,lax.population_count,lax.clz]),a)
    case('convert_'+n,lambda x: tuple(lax.convert_element_type(x,t) for t in list(ints.values())+[np.float32,np.bool_]),a)
    case('cv_f32_'+n,lambda x: lax.convert_element_type(x,d),special)
    case('cv_f64_'+n,lambda x: lax.convert_element_type(x,d),np.array([1e30,-1e30,255.7,-1.5,np.nan,127.5,-129]))
    case('reduce_'+n,lambda x,y: (jnp.sum(x,dtype=d),jnp.max(x),jnp.min(x),jnp.prod(x,dtype=d),lax.reduce(x,np.array(5,d),lax.add,(0,)),
                                  jnp.argmax(x,0),jnp.argmin(x,1),lax.dot(x,y),lax.iota(d,5)),a.reshape(3,4),b.reshape(4,3))
floats=[lax.add,lax.sub,lax.mul,lax.div,lax.rem,lax.max,lax.min,lax.pow,lax.atan2,lax.lt,lax.le,lax.gt,lax.ne]
A,B=np.meshgrid(special[:11],special[:11])
case('binary_f32',each(floats),A.ravel(),B.ravel())
case('binary_bf16',each(floats),F(6).astype(bf),F(6).astype(bf))
case('binary_f64',each(floats),r.randn(6),r.randn(6))
case('binary_f16',each(floats),F(6).astype(np.float16),F(6).astype(np.float16))
case('binary_c128',each([lax.add,lax.mul,lax.div,lax.pow,lax.eq]),r.randn(5)+1j,r.randn(5)+2j)
A=np.array([True,True,False,False])
B=np.array([True,False,True,False])
for m,f in [('add',lambda a,b:a+b),('mul',lambda a,b:a*b),('max',lax.max),('min',lax.min),('and',lax.bitwise_and),('or',lax.bitwise_or),('xor',lax.bitwise_xor),('lt',lax.lt),('ge',lax.ge)]: case('bool_'+m,f,A,B)
case('bool_not',lax.bitwise_not,A)
case('bool_red',lambda x:(jnp.any(x),jnp.all(x),jnp.sum(x),jnp.argmax(x)),A)
case('clamp',lambda x: lax.clamp(np.float32(-.5),x,np.float32(.5)),special)
case('clampv',lambda a,x,b: lax.clamp(a,x,b),-abs(F(4)),F(4),abs(F(4)))
case('select',lambda p,x,y: jnp.where(p,x,y),A,F(4),F(4))
case('select2',lambda p,x: jnp.where(p[:,None],x,0.),A,F(4,3))
case('selectn',lambda i,a,b,c: lax.select_n(i,a,b,c),np.array([0,1,2,1],np.int32),F(4),F(4),F(4))
case('complex',lambda x,y:(lax.complex(x,y),lax.real(lax.complex(x,y)),lax.imag(lax.complex(x,y)),lax.conj(lax.complex(x,y))),F(4),F(4))
for e,m in [(8,7),(5,10),(4,3),(5,2),(8,23),(8,0),(2,1)]:
    case('redprec_%d_%d'%(e,m),lambda x: lax.reduce_precision(x,e,m),np.concatenate([special,F(30)*10,F(10)*1e-5,np.array([65504,65520,70000,1e38,480,449,464,465,57344,61440],np.float32)]))
case('redprec_f64',lambda x: lax.reduce_precision(x,8,23),r.randn(20)*10.**np.arange(-50,50,5))
case('redprec_bf',lambda x: lax.reduce_precision(x,5,2),F(20).astype(bf))
case('bitcast',lambda x:(lax.bitcast_convert_type(x,np.int32),lax.bitcast_convert_type(x,np.uint8),lax.bitcast_convert_type(lax.bitcast_convert_type(x,np.uint16),np.float32)),F(5))
case('nextafter',lambda x,y: jnp.nextafter(x,y),F(5),F(5))
case('sorttotal',lambda x,y: (lax.lt(x,y),),special,special[::-1].copy())
case('bcast',lambda x,y:(jnp.broadcast_to(x,(2,3,4)),jnp.broadcast_to(y[:,None],(3,4)),lax.broadcast(x,(2,)),lax.broadcast_in_dim(y,(3,2,4),(0,))),F(4),F(3))
case('bcast1',lambda x:(lax.broadcast_in_dim(x,(5,3,1),(1,2)),lax.broadcast_in_dim(x,(3,5,7),(0,1)) if False else x*2),F(3,1))
case('bcastp',lambda x,y:(jnp.broadcast_to(x[:,None],(x.shape[0],4))+y, jnp.ones((x.shape[0],3)), jnp.zeros_like(y)+1, jnp.arange(x.shape[0])[:,None]*jnp.ones((1,4),np.float32)),F(5),F(5,4),poly=('b','b,4'))
case('reshape',lambda x:(x.reshape(6,4),x.reshape(-1),x.reshape(2,1,12),jnp.transpose(x,(2,0,1)),x.T,jnp.flip(x,(0,2)),jnp.concatenate([x,x*2],1)),F(2,3,4))
case('reshapep',lambda x:(x.reshape(x.shape[0],-1),x.reshape(-1),x.reshape(x.shape[0]*3,4),jnp.concatenate([x,x],0),jnp.stack([x,x],1),x.mean((1,2)),jnp.flip(x,0)),F(5,3,4),poly=('b,3,4',))
case('reshapep2',lambda x:(x.reshape(x.shape[0]*x.shape[1],4),jnp.transpose(x,(1,0,2)),x.sum(0),x.reshape(x.shape[0],x.shape[1]*4),x.reshape(x.shape[0],x.shape[1],2,2),jnp.expand_dims(x,0),x.shape[0]+x.shape[1]),F(5,3,4),poly=('b,t,4',))
case('iota',lambda:(jnp.arange(5),jnp.arange(2,20,3.),lax.broadcasted_iota(np.float32,(3,4),1),jnp.eye(3),lax.iota(np.complex64,3),lax.broadcasted_iota(bf,(2,3,2),1)))
case('const',lambda x:(x+np.arange(12,dtype=np.float32).reshape(3,4),x*0+np.float32(2),jnp.full((2,3),7,np.int8),jnp.zeros((2,0)),np.array([True,False])&(x[0,:2]>0)),F(3,4))
case('constbf',lambda x: x+np.arange(4).astype(bf),F(4).astype(bf))
case('constc',lambda x: x+np.array([1+2j,3],np.complex64),np.array([1,2],np.complex64))
dn=lambda lc,rc,lb=(),rb=():((lc,rc),(lb,rb))
D=[('mm',(3,4),(4,5),dn((1,),(0,))),('mt',(3,4),(5,4),dn((1,),(1,))),('tm',(4,3),(4,5),dn((0,),(0,))),('tt',(4,3),(5,4),dn((0,),(1,))),('vv',(4,),(4,),dn((0,),(0,))),('mv',(3,4),(4,),dn((1,),(0,))),('vm',(4,),(4,3),dn((0,),(0,))),
('bm',(2,3,4),(2,4,5),dn((2,),(1,),(0,),(0,))),('bt',(2,3,4),(2,5,4),dn((2,),(2,),(0,),(0,))),('b2',(2,2,3,4),(2,2,4,5),dn((3,),(2,),(0,1),(0,1))),('bmid',(3,2,4),(4,2,5),dn((2,),(0,),(1,),(1,))),('3d',(2,3,4),(4,5),dn((2,),(0,))),('outer',(3,),(4,),dn((),())),
('2c',(2,3,4),(3,4,5),dn((1,2),(0,1))),('2cs',(2,3,4),(4,3,5),dn((1,2),(1,0))),('attn',(2,3,2,4),(2,5,2,4),dn((3,),(3,),(0,2),(0,2))),('bv',(2,4),(2,4),dn((1,),(1,),(0,),(0,))),('full',(2,3),(3,2),dn((0,1),(1,0))),('z',(3,0),(0,5),dn((1,),(0,))),('swapb',(2,3,4),(3,2,4),dn((2,),(2,),(0,1),(1,0)))]
for n,a,b,d in D:
    case('dot_general_'+n,lambda x,y,u,v,w,z: (lax.dot_general(x,y,d),lax.dot_general(u,v,d,preferred_element_type=np.float32),lax.dot_general(w,z,d)),
         F(*a),F(*b),F(*a).astype(bf),F(*b).astype(bf),F(*a)+1j*F(*a),F(*b)+0j)
    if n in ('mm','tm','bm','bmid','attn','2c','3d'):
        case('dg_%s_p'%n,lambda x,y: lax.dot_general(x,y,d),F(*a),F(*b),poly=(', '.join(['a%d'%(i) if (i in d[1][0]) else ('f%d'%i if i not in d[0][0] else str(a[i])) for i in range(len(a))]),', '.join(['a%d'%(d[1][0][d[1][1].index(i)]) if i in d[1][1] else ('g%d'%i if i not in d[0][1] else str(b[i])) for i in range(len(b))])) )
case('dot_i8_i32',lambda x,y: lax.dot_general(x,y,dn((1,),(0,)),preferred_element_type=np.int32),np.arange(12,dtype=np.int8).reshape(3,4),np.arange(20,dtype=np.int8).reshape(4,5))
case('dot_bool',lambda x,y: jnp.dot(x,y),A.reshape(2,2),B.reshape(2,2))
case('dot_mixed',lambda x,y: jnp.dot(x,y),F(3,4).astype(bf),F(4,2))
case('einsum',lambda x,y: jnp.einsum('bthd,bshd->bhts',x,y),F(2,5,3,4),F(2,6,3,4))
case('einsump',lambda x,y: jnp.einsum('bthd,bshd->bhts',x,y),F(2,5,3,4),F(2,6,3,4),poly=('b,t,3,4','b,s,3,4'))
for d,n in [(np.float32,'f32'),(np.float64,'f64'),(bf,'bf16'),(np.float16,'f16')]:
    x=r.randn(3,4,5).astype(d)
    case('red_'+n,lambda x:(x.sum(1),x.max((0,2)),x.min(),x.prod(2),x.mean(0),jnp.argmax(x,1),jnp.argmin(x),jnp.var(x,1),jax.nn.logsumexp(x,-1),jnp.any(x>1,0)),x)
case('red_nan',lambda x:(x.max(),x.min(),jnp.argmax(x),jnp.argmin(x),x.sum()),special)
case('red_empty',lambda x:(x.sum(0),x.prod(1),jnp.any(x>0,0)),np.zeros((0,3),np.float32))
case('red_c',lambda x:(x.sum(),x.prod(0)),(F(3,2)+1j).astype(np.complex64))
case('red_gen',lambda x,y:(lax.reduce((x,y),(np.float32(0),np.float32(1)),lambda a,b:(a[0]+b[0],a[1]*b[1]),(1,)),lax.reduce(x,np.float32(1),lambda a,b: jnp.maximum(jnp.abs(a),jnp.abs(b))+0.*a,(0,1)),lax.reduce_and(np.array([7,6,12],np.int32),(0,)),lax.reduce_xor(np.array([7,6,12],np.int32),(0,)),lax.reduce_or(np.array([[1,6,8]],np.uint8),(1,))),F(5,7),F(5,7))
case('red_p',lambda x:(x.sum(0),x.max(1),jnp.argmax(x,1),jnp.argmax(x,0),jnp.argmin(x),x.mean(),x.var(0),jax.nn.softmax(x),jax.nn.log_softmax(x)),F(5,4),poly=('b,4',))
case('while',lambda x: lax.while_loop(lambda c:(c[0]<5)&(c[1].sum()<1e6),lambda c:(c[0]+1,c[1]*2),(0,x)),F(3))
case('fori',lambda x: lax.fori_loop(0,7,lambda i,c: c+i*x,x),F(3))
case('forip',lambda x: lax.fori_loop(0,x.shape[0],lambda i,c: c+x[i],0.),F(5),poly=('b',))
case('nested',lambda x: lax.fori_loop(0,3,lambda i,c: lax.fori_loop(0,i,lambda j,d: d*1.5+jnp.where(d>0,j,i),c)+lax.cond(i>1,lambda v: v+x,lambda v: v-1,c),x),F(3))
case('cond',lambda p,x: lax.cond(p,lambda a:(a+1,a*2),lambda a:(a-1,x),x),np.array(True),F(3))
case('cond0',lambda p,x: lax.cond(p,lambda a:(a+1,a*2),lambda a:(a-1,x),x),np.array(False),F(3))
for i in [-3,0,1,2,3,4,9]:
    case('switch%d'%(i+3),lambda i,x: lax.switch(i,[lambda a:a,lambda a:a*2,lambda a:a-1,lambda a: jnp.zeros_like(a),lambda a: a.sum()+a],x),np.array(i,np.int32),F(3))
case('condnest',lambda i,x: lax.cond(i>0,lambda: lax.cond(i>1,lambda: x,lambda: x*2),lambda: lax.fori_loop(0,i+3,lambda k,c:c+1,x)),np.array(0,np.int32),F(3))
case('scan',lambda c,x: lax.scan(lambda c,x:(c*.9+x,jnp.tanh(c)),c,x),F(3),F(6,3))
case('scanrev',lambda c,x: lax.scan(lambda c,x:(c*.9+x,(c,x+1)),c,x,reverse=True),F(3),F(6,3))
case('scanp',lambda c,x: lax.scan(lambda c,x:(c*.9+x,jnp.tanh(c)),c,x),F(3),F(6,3),poly=('3','t,3'))
case('map',lambda x: lax.map(lambda v: v@v,x),F(4,3))
case('assocscan',lambda x: lax.associative_scan(jnp.add,x),F(9))
case('cumsum',lambda x:(jnp.cumsum(x,1),jnp.cumprod(x,0),jnp.cumsum(x[::-1]),lax.cummax(x,0)),F(4,5))
def lstm(x,W,U,b):
    def step(c,xt):
        h,s=c
        z=xt@W+h@U+b
        i,f,g,o=jnp.split(z,4,-1)
        s=jax.nn.sigmoid(f)*s+jax.nn.sigmoid(i)*jnp.tanh(g)
        h=jax.nn.sigmoid(o)*jnp.tanh(s)
        return (h,s),h
    z=jnp.zeros((x.shape[0],U.shape[0]),x.dtype)
    (h,s),ys=lax.scan(step,(z,z),jnp.swapaxes(x,0,1))
    return jnp.swapaxes(ys,0,1),h,s
case('lstm',lstm,F(2,5,3),F(3,16),F(4,16),F(16))
case('lstmp',lstm,F(2,5,3),F(3,16),F(4,16),F(16),poly=('b,t,3','3,16','4,16','16'))
mlp=lambda x,w,b,v,c: jax.nn.softmax(jax.nn.relu(x@w+b)@v+c)
case('mlp',mlp,F(5,4),F(4,8),F(8),F(8,3),F(3))
case('mlpp',mlp,F(5,4),F(4,8),F(8),F(8,3),F(3),poly=('b,4','4,8','8','8,3','3'))
case('gelu',lambda x:(jax.nn.gelu(x),jax.nn.gelu(x,approximate=False),jax.nn.silu(x),jax.nn.elu(x),jax.nn.softplus(x),jax.nn.leaky_relu(x),jax.nn.relu6(x),jax.nn.swish(x),jax.nn.mish(x),jax.nn.celu(x),jax.nn.selu(x),jax.nn.hard_tanh(x),jax.nn.glu(x)),F(3,4))
def block(x,wq,wk,wv,wo,w1,w2,g):
    ln=lambda x:(x-x.mean(-1,keepdims=True))*lax.rsqrt(x.var(-1,keepdims=True)+1e-5)*g
    B,T,Dm=x.shape
    h=ln(x)
    q,k,v=[(h@w).reshape(B,T,2,-1) for w in (wq,wk,wv)]
    a=jnp.einsum('bthd,bshd->bhts',q,k)/np.sqrt(4).astype(np.float32)
    m=jnp.tril(jnp.ones((T,T),bool))
    a=jax.nn.softmax(jnp.where(m,a,-1e9))
    o=jnp.einsum('bhts,bshd->bthd',a,v).reshape(B,T,-1)@wo
    x=x+o
    return x+jax.nn.gelu(ln(x)@w1)@w2
W=[F(8,8)*.3 for _ in range(4)]+[F(8,16)*.3,F(16,8)*.3,F(8)]
case('transformer',block,F(2,5,8),*W)
case('transformerp',block,F(2,5,8),*W,poly=('b,t,8',)+('8,8',)*4+('8,16','16,8','8'))
def bnet(x):
    return block(x,*W)
case('transformer_const',bnet,F(2,5,8))
case('transformer_bf',lambda x,*w: block(x.astype(bf),*[a.astype(bf) for a in w]).astype(np.float32),F(2,5,8),*W)
case('grad',jax.grad(lambda x,w: jnp.sum(jnp.tanh(x@w)**2),(0,1)),F(3,4),F(4,2))
case('hess',jax.hessian(lambda x: jnp.sum(jnp.sin(x)*x[0])),F(3))
case('vmap',jax.vmap(lambda x,y: jnp.outer(x,y)),F(3,2),F(3,4))
case('vgrad',jax.value_and_grad(lambda x: jax.nn.logsumexp(x)+jnp.max(x)),F(7))
case('normal',lambda: jax.random.normal(jax.random.PRNGKey(3),(3,4)))
case('uniform',lambda k:(jax.random.uniform(k,(5,)),jax.random.split(k),jax.random.randint(k,(4,),0,10),jax.random.bernoulli(k,.3,(6,)),jax.random.permutation(k,5),jax.random.categorical(k,jnp.zeros((3,4)))),np.array([1,2],np.uint32))
case('dropout',lambda k,x: jnp.where(jax.random.bernoulli(k,.5,x.shape),x*2,0),np.array([1,2],np.uint32),F(3,4))
case('special',lambda x:(lax.lgamma(x),lax.digamma(x),lax.erfc(x),lax.erf_inv(x*.3),lax.bessel_i1e(x),lax.bessel_i0e(x)),F(8))
case('special2',lambda a,x:(lax.igamma(a,x),lax.igammac(a,x),lax.betainc(a,x,np.full((4,),.3,np.float32)),lax.polygamma(np.full((4,),1.,np.float32),x),lax.zeta(a+2,x)),abs(F(4))+.2,abs(F(4))+.3)
case('trig',lambda x:(jnp.sinh(x),jnp.cosh(x),jnp.arcsinh(x),jnp.arccosh(1+x*x),jnp.arctanh(x*.3),jnp.arcsin(x*.2),jnp.arccos(x*.2),jnp.arctan(x)),F(6))
case('index',lambda x,i:(x[1],x[i],x[:,i],x[1:3,::2],x.at[1].set(5.),x.at[i].add(1.),jnp.take_along_axis(x,i[:,None],1),x[-1,-2],jnp.roll(x,1,0)),F(4,5),np.array([0,3,1,2],np.int32))
case('embed',lambda t,i: t[i],F(10,4),np.array([[1,2],[9,12]],np.int32))
case('onehot',lambda i: jax.nn.one_hot(i,5),np.array([0,4,7],np.int32))
case('sort',lambda x:(jnp.sort(x),jnp.argsort(x,0),lax.top_k(x,2),jnp.sort(x)[:,::-1],jnp.median(x)),F(4,5))
case('pad',lambda x:(jnp.pad(x,((1,2),(0,1))),lax.pad(x,np.float32(1),((1,-1,2),(0,0,1))),jnp.tile(x,(2,3)),jnp.repeat(x,2,0)),F(3,4))
case('conv',lambda x,w:(lax.conv_general_dilated(x,w,(1,1),'SAME',dimension_numbers=('NHWC','HWIO','NHWC')),lax.conv_general_dilated(x,w,(2,2),'VALID',dimension_numbers=('NHWC','HWIO','NHWC'))),F(2,8,8,3),F(3,3,3,4))
case('pool',lambda x:(lax.reduce_window(x,-np.inf,lax.max,(1,2,2,1),(1,2,2,1),'VALID'),lax.reduce_window(x,0.,lax.add,(1,2,2,1),(1,2,2,1),'SAME')),F(2,7,7,3))
case('cnn',lambda x,w,b,v: jax.nn.relu(lax.conv_general_dilated(x,w,(1,1),'SAME',dimension_numbers=('NHWC','HWIO','NHWC'))+b).mean((1,2))@v,F(2,8,8,3),F(3,3,3,4),F(4),F(4,2))
case('cnnp',lambda x,w,b,v: jax.nn.relu(lax.conv_general_dilated(x,w,(1,1),'SAME',dimension_numbers=('NHWC','HWIO','NHWC'))+b).mean((1,2))@v,F(2,8,8,3),F(3,3,3,4),F(4),F(4,2),poly=('b,8,8,3','3,3,3,4','4','4,2'))
case('remat',jax.grad(lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)))(x).sum()),F(4))
case('poly2',lambda x,y: x[:y.shape[0]*2:2]+y,F(6),F(3),poly=('2*b','b'))
case('polydim',lambda x: x.reshape(x.shape[0]//2,2).sum(1)+x.shape[0],F(6),poly=('2*b',))
case('polymean',lambda x: x.sum()/x.shape[0],F(6),poly=('b',))
case('tokenless',lambda x: lax.optimization_barrier((x,x+1)),F(3))
case('linspace',lambda x: jnp.linspace(0,1,7)*x,F(7))
case('custom_jvp',lambda x: jax.nn.relu(x)+jax.nn.logsumexp(x,axis=0),F(3,3))
case('fft',lambda x: jnp.abs(jnp.fft.rfft(x)),F(8))
case('interp',lambda x: jnp.interp(x,jnp.arange(5.),jnp.arange(5.)**2),abs(F(6)))
case('histo',lambda x: jnp.bincount(x,length=6),np.array([1,2,2,5],np.int32))
case('seg',lambda x,i: jax.ops.segment_sum(x,i,3),F(5,2),np.array([0,2,2,1,0],np.int32))

def cumulative(x):
    n=(x*10).astype(np.int32)
    return (jnp.cumsum(x,0),jnp.cumprod(x,1),lax.cummax(x,0),lax.cummin(x,1,reverse=True),lax.cumlogsumexp(x,0),lax.cumsum(x,1,reverse=True),
        jnp.cumsum(n,0),lax.cummax(n,1),lax.cumlogsumexp(x,1,reverse=True))
case('cumulativep',cumulative,F(7,6),poly=('a,b',))
case('cumulativep1',cumulative,F(1,5),poly=('a,5',))
case('cumulative_loop',lambda x: lax.fori_loop(0,3,lambda i,y: jnp.cumsum(y,0)*.3+lax.cummax(y,0),x),F(5,2),poly=('a,2',))
case('poolp',lambda x:(lax.reduce_window(x,-np.inf,lax.max,(1,3,3,1),(1,2,2,1),'SAME'),lax.reduce_window(x,0.,lax.add,(1,2,3,1),(1,1,2,1),'SAME')),F(2,11,9,3),poly=('b,h,w,3',))

with gzip.GzipFile(FILE, 'wb', mtime=0) as f:
    f.write(GRAPH.SerializeToString(deterministic=True))
