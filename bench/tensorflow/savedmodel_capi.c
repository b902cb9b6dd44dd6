// Measures a SavedModel by TensorFlow's C API, as gorge savedmodel bench does:
//
//   savedmodel_capi MODEL RUNS CLIENTS OUTPUT... -- INPUT TYPE FILE DIM...
//
// INPUT and OUTPUT are names of tensors such as x:0, TYPE is the number of the
// element type, FILE has the elements as they lie in memory; of type 7 (string) it
// is the only element. savedmodels.py builds and calls it.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensorflow/c/c_api.h"

static TF_Session *session;
static TF_Output input, outputs[16];
static TF_Tensor *value;
static int output_count, runs, clients;
static double *times;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void check(TF_Status *s) {
  if (TF_GetCode(s) == TF_OK) return;
  fprintf(stderr, "%s\n", TF_Message(s));
  exit(1);
}

static TF_Output tensor(TF_Graph *graph, char *name) {
  char *colon = strrchr(name, ':');
  *colon = 0;
  TF_Output out = {TF_GraphOperationByName(graph, name), atoi(colon + 1)};
  if (out.oper == NULL) {
    fprintf(stderr, "no operation %s\n", name);
    exit(1);
  }
  return out;
}

static TF_Tensor *read_tensor(int type, const char *file, char **dims, int rank) {
  static char bytes[64 << 20];
  int64_t shape[8];
  FILE *f = fopen(file, "rb");
  size_t n = fread(bytes, 1, sizeof bytes, f);
  fclose(f);
  for (int i = 0; i < rank; i++) shape[i] = atoll(dims[i]);
  TF_Tensor *t = TF_AllocateTensor(type, shape, rank, type == TF_STRING ? sizeof(TF_TString) : n);
  if (type == TF_STRING) {
    TF_StringInit(TF_TensorData(t));
    TF_StringCopy(TF_TensorData(t), bytes, n);
  } else {
    memcpy(TF_TensorData(t), bytes, n);
  }
  return t;
}

static void run(void) {
  TF_Tensor *out[16] = {0};
  TF_Status *s = TF_NewStatus();
  TF_SessionRun(session, NULL, &input, &value, 1, outputs, out, output_count, NULL, 0, NULL, s);
  check(s);
  for (int i = 0; i < output_count; i++) TF_DeleteTensor(out[i]);
  TF_DeleteStatus(s);
}

static void *client(void *at) {
  for (long i = (long)at; i < runs; i += clients) {
    double began = now();
    run();
    times[i] = now() - began;
  }
  return NULL;
}

static double measure(void) {
  pthread_t threads[256];
  double began = now();
  for (long c = 0; c < clients; c++) pthread_create(&threads[c], NULL, client, (void *)c);
  for (int c = 0; c < clients; c++) pthread_join(threads[c], NULL);
  return now() - began;
}

static int compare(const void *a, const void *b) {
  double d = *(const double *)a - *(const double *)b;
  return (d > 0) - (d < 0);
}

int main(int argc, char **argv) {
  const char *tags[] = {"serve"};
  TF_Status *s = TF_NewStatus();
  TF_Graph *graph = TF_NewGraph();
  double began = now();
  session = TF_LoadSessionFromSavedModel(TF_NewSessionOptions(), NULL, argv[1], tags, 1, graph, NULL, s);
  check(s);
  double loaded = now() - began;
  int all = atoi(argv[2]), a = 4;
  clients = atoi(argv[3]);
  for (; strcmp(argv[a], "--"); a++) outputs[output_count++] = tensor(graph, argv[a]);
  input = tensor(graph, argv[a + 1]);
  value = read_tensor(atoi(argv[a + 2]), argv[a + 3], argv + a + 4, argc - a - 4);
  began = now();
  run();
  printf("load %.3fms, first run %.3fms\n", loaded, now() - began);
  times = calloc(all, sizeof *times);
  runs = all / 10 > clients ? all / 10 : clients;
  measure();
  runs = all;
  double wall = measure();
  qsort(times, runs, sizeof *times, compare);
  printf("p50 %.3fms p99 %.3fms %.1f runs/s\n", times[(int)(0.5 * (runs - 1))], times[(int)(0.99 * (runs - 1))], runs / wall * 1e3);
  return 0;
}
