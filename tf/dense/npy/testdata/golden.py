"""Makes the files that the tests read, with numpy."""
import numpy as np

a = np.arange(6).reshape(2, 3)
arrays = {
    'float32': a.astype('<f4') - 1.5,
    'big': a.astype('>i4') * 70000,
    'columns': np.asfortranarray(a.astype('<f8')),
    'half': a.astype('<f2'),
    'bool': a % 2 == 0,
    'complex': (a + 1j).astype('>c8'),
    'scalar': np.int64(-7),
    'empty': np.zeros((0, 3), np.uint8),
    'vector': np.array([1, 2], np.uint16),
}
np.savez('all.npz', **arrays)
np.savez_compressed('packed.npz', **arrays)
with open('versions.npy', 'wb') as f:
  for version in [(1, 0), (2, 0), (3, 0)]:
    np.lib.format.write_array(f, arrays['vector'], version=version)
