"""Golden of nested_exits: Python integers, statement by statement as the kernel."""
import numpy as np
r=np.random.default_rng(5); a=r.integers(0,256,256).astype(np.int32); np.save('a.npy',a)
n,m=200,30; G=199; out=np.zeros(G,np.int32)
for g in range(G):
    acc=0; ret=None
    i=0
    while i<n:
        v=int(a[(g*7+i)&255]); cont=False
        if v&1:
            if v>200: break
            if v<20: i+=1; continue
            acc+=i
            for j in range(m):
                if a[(v+j)&255]==j: acc+=100; break
                if a[(acc+j)&255]>250: break
                acc^=j
        elif v&2:
            acc+=3*i
            if acc>5000: ret=-acc; break
        acc+=1; i+=1
    out[g]=ret if ret is not None else acc
np.save('e.npy',out)
