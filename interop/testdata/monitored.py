"""Monitored sessions of TensorFlow and Gorge in turn.

Usage: monitored.py train DIR LAST          trains from DIR's latest checkpoint to the step LAST, prints the step and w before and after
       monitored.py events DIR              prints what the event files of DIR have
       monitored.py sync TARGET TASK STEPS  is a worker of a SyncReplicas cluster that feeds 3, prints w and the step
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow.compat.v1 as tf  # noqa: E402

tf.disable_eager_execution()
tf.enable_resource_variables()
tf.logging.set_verbosity(tf.logging.ERROR)


def train(directory, last):
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(1.0))
    step = tf.train.get_or_create_global_step()
    loss = tf.square(w - 5)
    tf.summary.scalar("loss", loss)
    op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step)
    hooks = [tf.train.StopAtStepHook(last_step=int(last))]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=directory, hooks=hooks, save_checkpoint_steps=3, save_checkpoint_secs=None, save_summaries_steps=1) as sess:
        print(sess.run_step_fn(lambda step_context: "%d %r" % tuple(step_context.session.run([step, w]))))
        while not sess.should_stop():
            sess.run(op)
        reader = tf.train.load_checkpoint(directory)
        print(reader.get_tensor("global_step") <= int(last))
    reader = tf.train.load_checkpoint(directory)
    print("%d %r" % (reader.get_tensor("global_step"), reader.get_tensor("w")))


def events(directory):
    have = {}
    for name in sorted(os.listdir(directory)):
        if "tfevents" not in name:
            continue
        for e in tf.train.summary_iterator(os.path.join(directory, name)):
            what = e.WhichOneof("what")
            keys = [what]
            if what == "summary":
                keys = ["%s %s %s" % (v.tag, v.WhichOneof("value"), v.metadata.plugin_data.plugin_name) for v in e.summary.value]
            elif what == "session_log":
                keys = ["session_log %d" % e.session_log.status]
            elif what == "graph_def":
                keys = ["graph_def %s" % ("w" in {n.name for n in tf.GraphDef.FromString(e.graph_def).node})]
            elif what == "meta_graph_def":
                m = tf.MetaGraphDef.FromString(e.meta_graph_def)
                keys = ["meta_graph_def %s" % m.saver_def.restore_op_name]
            elif what == "tagged_run_metadata":
                keys = ["run_metadata %s %s" % (e.tagged_run_metadata.tag, len(tf.RunMetadata.FromString(e.tagged_run_metadata.run_metadata).step_stats.dev_stats) > 0)]
            for k in keys:
                have[k] = have.get(k, 0) + 1
    for k in sorted(have):
        print(k, have[k])


def sync(target, task, steps):
    task = int(task)
    with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:%d" % task)):
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        x = tf.placeholder(tf.float32, [])
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2, 2)
        op = optimizer.minimize(w * x, global_step=step)
    tokens = optimizer._sync_token_queue.size()
    hook = optimizer.make_session_run_hook(task == 0, num_tokens=0)
    config = tf.ConfigProto(allow_soft_placement=True)
    scaffold = tf.train.Scaffold()
    creator = tf.train.ChiefSessionCreator(scaffold, target, config) if task == 0 else tf.train.WorkerSessionCreator(scaffold, target, config)
    if task > 0:
        creator._get_session_manager = lambda make=creator._get_session_manager: patient(make())
    with tf.train.MonitoredSession(creator, [hook], stop_grace_period_secs=1) as sess:
        for _ in range(int(steps)):
            sess.run(op, {x: 3.0})
            while sess.run_step_fn(lambda step_context: step_context.session.run(tokens)):
                pass  # The other worker has not taken its token.
        print(sess.run_step_fn(lambda step_context: "%r %d" % tuple(step_context.session.run([w, step]))))


def patient(manager):
    manager._recovery_wait_secs = 0.1
    return manager


{"train": train, "events": events, "sync": sync}[sys.argv[1]](*sys.argv[2:])
