"""Runs operations and functions of TensorFlow 2 on other tasks, and prints what they give.

eager.py ADDRESS ADDRESS: of a worker and of another task.
"""
import os
import re
import sys

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
import tensorflow as tf  # noqa: E402
from tensorflow.python.eager import context  # noqa: E402

LOCAL = '/job:localhost/replica:0/task:0/device:CPU:0'
WORKER = '/job:worker/replica:0/task:0/device:CPU:0'
OTHER = '/job:other/replica:0/task:0/device:CPU:0'


def text(x):
  """The text of a value, numbers rounded."""
  if isinstance(x, (list, tuple)):
    return '[%s]' % ', '.join(text(y) for y in x)
  if hasattr(x, 'numpy'):
    x = x.numpy()
    return text(x.tolist() if hasattr(x, 'tolist') else x)
  return '%.4g' % x if isinstance(x, float) else repr(x)


def show(name, device, f, says=''):
  """Prints what f gives on a device, or the line that says how it fails."""
  try:
    with tf.device(device):
      out = f()
      context.async_wait()  # an error is known before anything builds upon what failed
      where = getattr(out, 'device', '').split('/')[1:2]
      print(name, text(out), *where)
  except (tf.errors.OpError, ValueError) as e:
    lines = [l for l in str(e).split('\n') if says in l] or [str(e)]
    # Whether the function is named depends on whether its call or its value fails first.
    print(name, type(e).__name__, re.sub(r'\{\{function_node [^}]*\}\} ', '', lines[0]).split(' [Op:')[0])


def types():
  x = tf.constant([1, 2, 3])
  for d in (tf.float16, tf.bfloat16, tf.float64, tf.int8, tf.uint16, tf.int64, tf.complex64, tf.bool):
    yield tf.cast(tf.cast(x, d), tf.float32)
  yield tf.strings.join([['a', 'b\0c'], ['d', '']])
  yield tf.zeros([0, 3])


def variables():
  v = tf.Variable([1., 2.])
  v.assign_add([1., 1.])
  with tf.GradientTape() as tape:
    y = tf.reduce_sum(v * v * tf.sin(v))
  return v.read_value(), tape.gradient(y, v), tf.random.Generator.from_seed(3).uniform([2])


def structures():
  array = tf.TensorArray(tf.float32, size=2)
  array = array.write(0, tf.constant(1.)).write(1, tf.constant(2.))
  table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
  table.insert(tf.constant(['a', 'b']), tf.constant([1, 2], tf.int64))
  items = [next(it) for it in [iter(tf.data.Dataset.range(10).map(lambda x: x * x).batch(4))] for _ in range(3)]
  return array.stack(), table.lookup(tf.constant(['b', 'z'])), items, tf.ragged.constant([[1, 2], [3]]).row_lengths()


def training():
  w, b = tf.Variable(tf.ones([2, 2])), tf.Variable(tf.zeros([2]))

  @tf.function
  def train(x):
    with tf.GradientTape() as tape:
      loss = tf.reduce_sum((x @ w + b)**2)
    for v, g in zip((w, b), tape.gradient(loss, [w, b])):
      v.assign_sub(0.01 * g)
    return loss

  return [train(tf.constant([[1., 2.]])) for _ in range(4)], w.read_value()


def python():
  """Functions of Python, which this process runs for what the server computes."""
  twice = tf.function(lambda x: 2 * tf.numpy_function(lambda a: a + 1, [x], tf.int64))
  mapped = tf.data.Dataset.range(3).map(lambda x: tf.py_function(lambda a: a + 1, [x], tf.int64))
  generated = tf.data.Dataset.from_generator(lambda: iter([7, 8]), output_types=tf.int64)
  return [twice(tf.constant(3, tf.int64)), list(mapped), list(generated)]


def flow():
  v = tf.Variable(0.)

  @tf.function
  def f(x, n):
    for i in tf.range(n):
      v.assign_add(tf.cast(i, tf.float32))
      x = tf.cond(tf.reduce_sum(x) > 10., lambda: x / 2., lambda: x * 3.)
    return x, v.read_value()

  return f(tf.constant([1., 2.]), 5), f(tf.constant([0., 0.]), 3)


def failures(device):
  c = tf.constant
  show('inverse', device, lambda: tf.linalg.inv(tf.zeros([2, 2])))
  show('index', device, lambda: tf.raw_ops.GatherV2(params=c([1., 2.]), indices=c([5]), axis=c(0)))
  show('file', device, lambda: tf.io.read_file('/not/there'))
  show('missing', device, lambda: tf.raw_ops.VarIsInitializedOp(resource=tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name='none')).numpy())
  show('after', device, lambda: c(1) + c(1))

  @tf.function
  def wrong(x):
    return tf.gather(x, tf.cast(x[0], tf.int32) + 10)

  show('function', device, lambda: wrong(c([1., 2.])), 'indices')


def one():
  """What one task is asked for."""
  show('product', WORKER, lambda: tf.matmul([[1., 2.], [3., 4.]], [[1., 2.], [3., 4.]]))
  show('types', WORKER, lambda: list(types()))
  show('variables', WORKER, variables)
  show('structures', WORKER, structures)
  show('training', WORKER, training)
  show('flow', WORKER, flow)
  show('python', WORKER, python)

  @tf.function
  def parts(x):
    with tf.device(WORKER):
      y = x @ x
    with tf.device(LOCAL):
      z = y + 1.
    with tf.device(WORKER):
      return z * 2., y

  show('parts', LOCAL, lambda: parts(tf.constant([[1., 2.], [3., 4.]])))


def two():
  """What two tasks do together."""
  with tf.device(OTHER):
    v, x = tf.Variable([[1., 2.], [3., 4.]]), tf.constant([1., 2.])
  with tf.device(LOCAL):
    own = tf.Variable(5.)
  show('copy', WORKER, lambda: x * 2.)
  with tf.device(WORKER):
    words = tf.strings.join([tf.constant('a'), 'b'])
  show('words', OTHER, lambda: tf.strings.join([words, 'c']))

  @tf.function
  def f(a):
    v.assign_add(tf.ones([2, 2]))
    return tf.matmul(v, tf.reshape(a, [2, 1])) + own

  @tf.function
  def loop(a, n):
    for _ in tf.range(n):
      with tf.device(OTHER):
        a = a + v[0]
      with tf.device(WORKER):
        a = a * 0.5
    return a

  @tf.function
  def divide(a):
    with tf.device(OTHER):
      return 1 // a

  for device in (WORKER, OTHER, LOCAL):
    show('f', device, lambda: f(x))
    show('loop', device, lambda: loop(x, 3))
    show('divide', device, lambda: divide(tf.constant(0)), 'zero')
    show('again', device, lambda: f(x))


def models():
  """What Keras trains on the worker: images, sequences, attention."""
  import keras
  import numpy as np

  layers, inputs = keras.layers, np.random.RandomState(1).rand(32, 6, 8).astype('float32')

  def images(x):
    x = layers.Conv2D(4, 3, activation='relu')(layers.Reshape((6, 8, 1))(x))
    return layers.Flatten()(layers.BatchNormalization()(x))

  def sequences(x):
    x = layers.Bidirectional(layers.GRU(4, return_sequences=True))(x)
    return layers.Dropout(.2, seed=3)(layers.LSTM(3)(x))

  def attention(x):
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x))
    return layers.GlobalAveragePooling1D()(x)

  for body, optimizer in {images: 'adam', sequences: 'rmsprop', attention: 'adamw'}.items():
    def train():
      keras.utils.set_random_seed(1)
      x = keras.Input((6, 8))
      model = keras.Model(x, layers.Dense(2)(body(x)))
      model.compile(optimizer, 'mse', metrics=['mae'])
      history = model.fit(inputs, inputs.mean((1,))[:, :2], epochs=3, batch_size=8, verbose=0, shuffle=False)
      return [round(l, 2) for l in history.history['loss']], model.predict(inputs, verbose=0).shape

    show(body.__name__, WORKER, train)


def main():
  cluster = dict(zip(('worker', 'other'), ([a] for a in sys.argv[1:])))
  tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(cluster))
  one()
  failures(WORKER)
  two()
  models()


if __name__ == '__main__':
  main()
