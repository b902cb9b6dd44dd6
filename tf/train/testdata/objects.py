"""Writes objects.ckpt-1, a checkpoint of TensorFlow 2's objects."""
import tensorflow as tf


class Model(tf.Module):

  def __init__(self):
    super().__init__()
    self.w = tf.Variable([[0., 1., 2.], [3., 4., 5.]], name='weights')
    self.b = tf.Variable([1., 2., 3.], name='b')


tf.train.Checkpoint(model=Model()).save('objects.ckpt')
