"""A server is killed and started again: what its clients see. The arguments are the address and the command of the server."""
import subprocess
import sys
import tempfile
import time

from sessions import config, fails, show, tf, v1

address, command = sys.argv[1], sys.argv[2:]


class Server:
    def start(self):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.kill()
        self.start()


def program(graph):
    with graph.as_default(), tf.device("/job:worker/task:0"):
        step = v1.train.get_or_create_global_step()
        x = v1.placeholder(tf.float32, [])
        v = v1.get_variable("v", [], initializer=v1.zeros_initializer(), use_resource=True)
        return x, step, v1.group(v.assign_add(x), step.assign_add(1)), v


def noticed(f):
    """Waits until the client knows that its connection is over: until then calls fail for that reason."""
    while True:
        try:
            f()
        except tf.errors.UnavailableError:
            time.sleep(0.1)
            continue
        except tf.errors.OpError:
            pass
        return


def plain(server):
    """A session of its own does not survive, and says so."""
    graph = tf.Graph()
    x, _, train, v = program(graph)
    with graph.as_default():
        init = v1.global_variables_initializer()
    sess = v1.Session("grpc://" + address, graph=graph, config=config())
    sess.run(init)
    sess.run(train, {x: 2})
    show("before", sess.run(v))
    server.restart()
    noticed(lambda: sess.run(v))
    fails("after", lambda: sess.run(v), words=False)
    fails("still", lambda: sess.run(train, {x: 2}), words=False)
    again = v1.Session("grpc://" + address, graph=graph, config=config())
    fails("another session", lambda: again.run(v), words=False)
    again.run(init)
    show("initialized", again.run(v))
    fails("closing", sess.close, words=False)
    again.close()


def monitored(server):
    """A monitored session goes on from its last checkpoint."""
    graph = tf.Graph()
    x, step, train, v = program(graph)
    steps = []
    with graph.as_default(), tempfile.TemporaryDirectory() as d:
        with v1.train.MonitoredTrainingSession("grpc://" + address, checkpoint_dir=d, save_checkpoint_steps=5, save_checkpoint_secs=None,
                                               save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None, config=config()) as sess:
            for i in range(20):
                if i == 12:
                    server.restart()
                steps.append(sess.run([train, step], {x: 1})[1])
            show("value", sess.run(v))
    show("steps", steps[10:14])


def main():
    server = Server()
    server.start()
    try:
        plain(server)
        monitored(server)
    finally:
        server.kill()


main()
