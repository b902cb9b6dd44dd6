# For rxevm's -s: nobody but root may open the RDMA devices.
chmod 0600 /dev/infiniband/uverbs*
