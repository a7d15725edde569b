/* Finds the minimum of a function from C: asks for a point, computes its value, tells the value. */
#include <math.h>
#include <stdio.h>

#include "vernier/vernier.h"

static const char kStudyFile[] =
    "objective: {minimize: loss}\n"
    "parameters:\n"
    "  lr: {float: [1e-5, 0.1], scale: log}\n"
    "  layers: {int: [1, 8]}\n"
    "algorithm: gp\n"
    "seed: 7\n";

static int Fail(vn_error* error) {
  fprintf(stderr, "%s\n", vn_error_message(error));
  vn_error_free(error);
  return 1;
}

int main(void) {
  vn_error* error = NULL;
  vn_ask_tell* study = NULL;
  if (vn_ask_tell_new(kStudyFile, &study, &error) != VN_OK) return Fail(error);
  for (int i = 0; i < 30; ++i) {
    vn_trials* asked = NULL;
    double lr = 0;
    int64_t layers = 0;
    if (vn_ask_tell_ask(study, 1, &asked, &error) != VN_OK ||
        vn_trials_double(asked, 0, "lr", &lr, &error) != VN_OK ||
        vn_trials_int(asked, 0, "layers", &layers, &error) != VN_OK) {
      return Fail(error);
    }
    const double loss = pow(log10(lr) + 3, 2) + 0.1 * pow((double)layers - 5, 2);
    if (vn_ask_tell_tell(study, vn_trials_number(asked, 0), &loss, 1, &error) != VN_OK) {
      return Fail(error);
    }
    vn_trials_free(asked);
  }
  vn_trials* best = NULL;
  if (vn_ask_tell_best(study, &best, &error) != VN_OK) return Fail(error);
  printf("%s %s\n", vn_trials_parameters(best, 0), vn_trials_metrics(best, 0));
  vn_trials_free(best);
  vn_ask_tell_free(study);
  return 0;
}
