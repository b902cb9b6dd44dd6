"""Trains by TensorFlow 2's ParameterServerStrategy and ClusterCoordinator, loses a worker and gets it back,
and loses a parameter server; prints what a user sees.

coordinator.py ADDRESS,... KIND,KIND,KIND GORGE: of two workers, a parameter server and this process; what the
first three are, tensorflow or gorge; the path of gorge.
"""
import os
import subprocess
import sys
import tempfile
import threading
import time

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
import tensorflow as tf  # noqa: E402

ADDRESSES, KINDS, GORGE = sys.argv[1].split(','), sys.argv[2].split(','), sys.argv[3]
TASKS = [('worker', 0), ('worker', 1), ('ps', 0), ('chief', 0)]
SPEC = {'worker': ADDRESSES[:2], 'ps': ADDRESSES[2:3], 'chief': ADDRESSES[3:]}


class Task:
  """One of the servers."""

  def __init__(self, i):
    (job, index), flat = TASKS[i], ','.join('%s|%s' % (j, ';'.join(a)) for j, a in SPEC.items())
    self.command = [sys.executable, os.path.join(os.path.dirname(__file__), 'server.py'), flat, job, str(index)]
    if KINDS[i] == 'gorge':
      self.command = [GORGE, 'serve', '--cluster_spec=' + flat, '--job_name=' + job, '--task_id=%d' % index, '--log=error']
    self.start()

  def start(self):
    self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    self.process.stdout.readline()

  def kill(self):
    self.process.kill()
    self.process.wait()


def variables(strategy):
  with strategy.scope():
    w = tf.Variable(tf.random.stateless_normal([16, 10], [1, 2]) * .01, name='w')
    b = tf.Variable(tf.zeros([10]), name='b')
    rows = tf.Variable(tf.zeros([100, 8]), name='rows')
    steps = tf.Variable(0, dtype=tf.int64, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA, name='steps')
  print('on', [v.device for v in (w, b, rows, steps)])
  return w, b, rows, steps


def dataset(_):
  """Noisy copies of ten patterns, and rows to look up."""
  patterns = tf.random.stateless_normal([10, 16], [3, 4])

  def example(i):
    return patterns[i % 10] + .1 * tf.random.stateless_normal([16], tf.stack([i, 5])), i % 10, i % 100

  return tf.data.Dataset.range(1000).map(example).shuffle(100, seed=1).repeat().batch(32).prefetch(2)


def trainer(strategy, w, b, rows, steps):
  @tf.function
  def step(iterator):
    def replica(x, y, i):
      with tf.GradientTape() as tape:
        logits = tf.matmul(x, w) + b
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        loss += tf.reduce_mean(tf.square(tf.nn.embedding_lookup(rows, i) - 1.))
      for v, g in zip([w, b, rows], tape.gradient(loss, [w, b, rows])):
        if isinstance(g, tf.IndexedSlices):
          v.scatter_sub(tf.IndexedSlices(.5 * g.values, g.indices))
        else:
          v.assign_sub(.5 * g)
      steps.assign_add(1)
      return loss

    return strategy.run(replica, args=next(iterator))

  return step


def epoch(coordinator, step, iterator, n):
  """Mean of the losses of n steps, whoever makes them."""
  losses = [coordinator.schedule(step, args=(iterator,)) for _ in range(n)]
  coordinator.join()
  return sum(l.fetch() for l in losses) / n


def fails(what, coordinator, f, *args):
  try:
    coordinator.schedule(f, args=args)
    coordinator.join()
    print(what, 'no error')
  except (tf.errors.UnavailableError, tf.errors.AbortedError):  # it depends on which call meets the end first
    print(what, 'lost')
  except tf.errors.OpError as e:
    print(what, type(e).__name__)


def main():
  tasks = [Task(i) for i in range(3)]
  try:
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(SPEC), rpc_layer='grpc', task_type='chief', task_id=0)
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    w, b, rows, steps = variables(strategy)
    step = trainer(strategy, w, b, rows, steps)

    @tf.function
    def of_a_worker():
      return strategy.distribute_datasets_from_function(dataset)

    iterator = iter(coordinator.create_per_worker_dataset(of_a_worker))
    first, last = [epoch(coordinator, step, iterator, 60) for _ in range(2)]
    print('learns', bool(last < first), 'steps', int(steps.numpy()))

    @tf.function
    def bad():
      return tf.debugging.check_numerics(tf.constant(float('nan')), 'bad')

    fails('a step that fails:', coordinator, bad)
    with tempfile.TemporaryDirectory() as d:
      checkpoint = tf.train.Checkpoint(w=w, b=b, rows=rows, steps=steps)
      path = checkpoint.save(d + '/model')
      steps.assign(0)
      checkpoint.restore(path).assert_consumed()
    print('restored', int(steps.numpy()))

    stopped = threading.Thread(target=lambda: (tasks[1].kill(), time.sleep(.5), tasks[1].start()))
    stopped.start()
    while stopped.is_alive():
      epoch(coordinator, step, iterator, 10)
    epoch(coordinator, step, iterator, 20)
    print('goes on', int(steps.numpy()) >= 140)
    tasks[2].kill()
    fails('without parameters:', coordinator, step, iterator)
  finally:
    for t in tasks:
      t.kill()
    sys.stdout.flush()
    os._exit(0)  # what is left of the strategy would wait for its servers


main()
