#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "src/metrics/output_reader.h"
#include "src/metrics/wanted_metric.h"
#include "tests/support/extreme_values.h"

// What trainers print, and what is read of it where a study names the metric and says nothing else. Runs of backspaces are
// shortened.
namespace vernier::metrics {
namespace {

using ::vernier::testing::kInf;
using ::vernier::testing::kNan;

struct LineCase {
  const char* writer;  // Framework and version that printed the lines.
  const char* metric;
  const char* lines;
  std::optional<double> value;  // The last one; none: nothing is read.
  std::int64_t step;
};

// clang-format off
const LineCase kLines[] = {
    {"Keras of TensorFlow 2.15.1, fit, in a pipe", "loss",
     "Epoch 1/2\n1/3 [=========>....................] - ETA: 2s - loss: 0.7242 - accuracy: 0.4375\b\b\b\r3/3 [==============================] - 1s 124ms/step - loss: 0.6648 - accuracy: 0.5208 - val_loss: 0.7067 - val_accuracy: 0.4531", 0.6648, 1},
    {"Keras of TensorFlow 2.15.1, fit, in a pipe", "accuracy",
     "Epoch 1/2\n1/3 [=========>....................] - ETA: 2s - loss: 0.7242 - accuracy: 0.4375\b\b\b\r3/3 [==============================] - 1s 124ms/step - loss: 0.6648 - accuracy: 0.5208 - val_loss: 0.7067 - val_accuracy: 0.4531", 0.5208, 1},
    {"Keras of TensorFlow 2.15.1, fit, in a pipe", "val_loss",
     "Epoch 1/2\n1/3 [=========>....................] - ETA: 2s - loss: 0.7242 - accuracy: 0.4375\b\b\b\r3/3 [==============================] - 1s 124ms/step - loss: 0.6648 - accuracy: 0.5208 - val_loss: 0.7067 - val_accuracy: 0.4531", 0.7067, 1},
    {"Keras of TensorFlow 2.15.1, fit, in a pipe", "val_accuracy",
     "Epoch 1/2\n1/3 [=========>....................] - ETA: 2s - loss: 0.7242 - accuracy: 0.4375\b\b\b\r3/3 [==============================] - 1s 124ms/step - loss: 0.6648 - accuracy: 0.5208 - val_loss: 0.7067 - val_accuracy: 0.4531", 0.4531, 1},
    {"Keras of TensorFlow 2.15.1, fit, verbose=2", "loss",
     "Epoch 2/2\n3/3 - 0s - loss: 0.6614 - accuracy: 0.5208 - val_loss: 0.7024 - val_accuracy: 0.4531 - 64ms/epoch - 21ms/step", 0.6614, 2},
    {"Keras of TensorFlow 2.15.1, fit, verbose=2", "accuracy",
     "Epoch 2/2\n3/3 - 0s - loss: 0.6614 - accuracy: 0.5208 - val_loss: 0.7024 - val_accuracy: 0.4531 - 64ms/epoch - 21ms/step", 0.5208, 2},
    {"Keras of TensorFlow 2.15.1, fit, verbose=2", "val_loss",
     "Epoch 2/2\n3/3 - 0s - loss: 0.6614 - accuracy: 0.5208 - val_loss: 0.7024 - val_accuracy: 0.4531 - 64ms/epoch - 21ms/step", 0.7024, 2},
    {"Keras of TensorFlow 2.15.1, fit, verbose=2", "val_accuracy",
     "Epoch 2/2\n3/3 - 0s - loss: 0.6614 - accuracy: 0.5208 - val_loss: 0.7024 - val_accuracy: 0.4531 - 64ms/epoch - 21ms/step", 0.4531, 2},
    {"Keras of TensorFlow 2.15.1, fit, on a terminal", "val_accuracy",
     "Epoch 2/2\r\n\r1/3 [=========>....................] - ETA: 0s - loss: 0.6429 - accuracy: 0.5625\b\b\b\r3/3 [==============================] - 0s 144ms/step - loss: 0.6634 - accuracy: 0.5208 - val_loss: 0.7053 - val_accuracy: 0.4531", 0.4531, 2},
    {"Keras of TensorFlow 2.15.1, evaluate", "accuracy",
     "1/8 [==>...........................] - ETA: 2s - loss: 0.6479 - accuracy: 0.5312\b\b\b\r8/8 [==============================] - 0s 3ms/step - loss: 0.6712 - accuracy: 0.5039", 0.5039, 8},
    {"Keras of TensorFlow 2.15.1, evaluate, verbose=2", "accuracy",
     "8/8 - 0s - loss: 0.6712 - accuracy: 0.5039 - 59ms/epoch - 7ms/step", 0.5039, 1},
    {"TensorFlow 2.15.1, tf.print", "loss",
     "loss: 0.5 step 3", 0.5, 3},
    {"TensorFlow 2.15.1, print of a tensor", "loss",
     "loss: tf.Tensor(0.5, shape=(), dtype=float32)", 0.5, 1},
    {"Python 3.11 with PyTorch 1.13, the MNIST example's line", "Loss",
     "Train Epoch: 3 [640/60000 (1%)]\tLoss: 0.512300", 0.5123, 3},
    {"Python 3.11 with PyTorch 1.13, the MNIST example's line", "Average loss",
     "Test set: Average loss: 0.0272, Accuracy: 9913/10000 (99%)", 0.0272, 1},
    {"Python 3.11 with PyTorch 1.13, a fraction", "Accuracy",
     "Test set: Average loss: 0.0272, Accuracy: 9913/10000 (99%)", 0.9913, 1},
    {"Python 3.11 with PyTorch 1.13, the MNIST example's line", "loss",
     "Train Epoch: 3 [640/60000 (1%)]\tLoss: 0.512300\nTest set: Average loss: 0.0272, Accuracy: 9913/10000 (99%)", 0.0272, 1},
    {"Python 3.11, print, a step of so many", "acc",
     "Epoch: 3/10, acc: 45/50", 0.9, 3},
    {"Python 3.11, print, a step of so many", "epoch",
     "epoch: 3/10", std::nullopt, 0},
    {"Python 3.11 with PyTorch 1.13", "loss",
     "loss: tensor(0.5123, grad_fn=<MulBackward0>)", 0.5123, 1},
    {"Python 3.11 with PyTorch 1.13", "loss",
     "loss = tensor(0.5123)", 0.5123, 1},
    {"Python 3.11 with PyTorch 1.13", "loss",
     "loss=0.5123", 0.5123, 1},
    {"Python 3.11 with PyTorch 1.13, print of a dict", "loss",
     "{'loss': 0.5123000144958496, 'epoch': 3}", 0.5123000144958496, 3},
    {"Python 3.11 with PyTorch 1.13, print of a dict", "acc",
     "{'acc': 0.93, 'n': 3}", 0.93, 1},
    {"Python 3.11 with PyTorch 1.13", "acc",
     "acc: 0.93", 0.93, 1},
    {"Python 3.11 with PyTorch 1.13", "acc",
     "acc [0.93]", std::nullopt, 0},
    {"Python 3.11 with PyTorch 1.13", "val_loss",
     "val_loss: 5.123000e-01", 0.5123, 1},
    {"Python 3.11 with PyTorch 1.13", "val acc",
     "epoch 4 | train loss 0.300 | val acc 93.10%", std::nullopt, 0},
    {"Python 3.11 with PyTorch 1.13, the ImageNet example's line", "Loss",
     "Epoch: [3][120/391]\tTime 0.1 (0.2)\tLoss 0.4512 (0.5011)\tAcc@1 85.94 (82.31)", std::nullopt, 0},
    {"Python 3.11 with PyTorch 1.13", "val_acc",
     "epoch=3 val_acc=nan", kNan, 3},
    {"Python 3.11 with PyTorch 1.13", "val_loss",
     "epoch=4 val_loss=inf", kInf, 4},
    {"Python 3.11 with PyTorch 1.13", "val_loss",
     "epoch 5: val_loss -inf", std::nullopt, 0},
    {"Python 3.11 with PyTorch 1.13", "val_loss",
     "val_loss: -0.25", -0.25, 1},
    {"Python 3.11 with PyTorch 1.13, json.dumps", "val_acc",
     "{\"epoch\": 3, \"val_acc\": 0.93}", 0.93, 3},
    {"Python 3.11 with PyTorch 1.13, json.dumps", "val.loss",
     "{\"step\": 10, \"val\": {\"loss\": 0.5}}", 0.5, 10},
    {"Python 3.11 with PyTorch 1.13, json.dumps", "val_acc",
     "{\"val_acc\": NaN, \"epoch\": 4}", kNan, 4},
    {"Python 3.11 with PyTorch 1.13, json.dumps", "val_acc",
     "{\"val_acc\": -Infinity, \"global_step\": 40}", -kInf, 40},
    {"Python 3.11 with PyTorch 1.13, logging", "val_acc",
     "INFO:root:epoch 6 val_acc=0.910", 0.91, 6},
    {"Python 3.11 with PyTorch 1.13, logging", "val_acc",
     "INFO:root:{\"epoch\": 7, \"val_acc\": 0.92}", 0.92, 7},
    {"Python 3.11 with PyTorch 1.13, logging with times", "val_acc",
     "2026-11-23 03:43:45,639 - train - INFO - Step 1200: val_acc: 0.925, lr: 9.5e-05", 0.925, 1200},
    {"Python 3.11 with PyTorch 1.13, logging with times", "lr",
     "2026-11-23 03:43:45,639 - train - INFO - Step 1200: val_acc: 0.925, lr: 9.5e-05", 9.5e-05, 1200},
    {"Python 3.11 with PyTorch 1.13, logging with times", "val_acc",
     "2026-11-23 03:43:45,639 - train - INFO - [Epoch 8] val_acc = 0.93", 0.93, 8},
    {"tqdm 4.70.1, set_postfix", "val_acc",
     "\r  0%|          | 0/5 [00:00<?, ?it/s, loss=1, val_acc=0.5]\r 20%|\342\226\210\342\226\210        | 1/5 [00:00<00:00, 49.44it/s, loss=0.5, val_acc=0.6]\r100%|\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210| 5/5 [00:00<00:00, 48.81it/s, loss=0.2, val_acc=0.9]", 0.9, 5},
    {"tqdm 4.70.1, set_postfix", "loss",
     "\r  0%|          | 0/5 [00:00<?, ?it/s, loss=1, val_acc=0.5]\r 20%|\342\226\210\342\226\210        | 1/5 [00:00<00:00, 49.44it/s, loss=0.5, val_acc=0.6]\r100%|\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210| 5/5 [00:00<00:00, 48.81it/s, loss=0.2, val_acc=0.9]", 0.2, 5},
    {"tqdm 4.70.1, a bar for each epoch", "val_acc",
     "\rEpoch 1:   0%|          | 0/3 [00:00<?, ?it/s]\rEpoch 1:  33%|\342\226\210\342\226\210\342\226\210\342\226\216      | 1/3 [00:00<00:00, 22671.91it/s, val_acc=0.610]\rEpoch 1: 100%|\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210| 3/3 [00:00<00:00, 9320.68it/s, val_acc=0.620]", 0.62, 1},
    {"tqdm 4.70.1, write", "val_acc",
     "epoch 1: val_acc 0.600", std::nullopt, 0},
    {"tqdm 4.70.1, a bar without metrics", "loss",
     "\rtrain:   0%|                       | 0/3 [00:00<?, ?batch/s]\rtrain: 100%|############| 3/3 [00:00<00:00, 18978.75batch/s]", std::nullopt, 0},
    {"Lightning-style bar of tqdm 4.70.1", "val_loss",
     "\rEpoch 0:   0%|          | 0/8 [00:00<?, ?it/s]\rEpoch 0:  50%|\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210     | 4/8 [00:00<00:00, 120.11it/s, loss=0.41, v_num=0]\rEpoch 0: 100%|\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210| 8/8 [00:00<00:00, 131.02it/s, loss=0.332, v_num=0, val_loss=0.252, train_loss_step=0.301]", 0.252, 0},
    {"Lightning-style bar of tqdm 4.70.1", "loss",
     "\rEpoch 0:   0%|          | 0/8 [00:00<?, ?it/s]\rEpoch 0:  50%|\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210     | 4/8 [00:00<00:00, 120.11it/s, loss=0.41, v_num=0]\rEpoch 0: 100%|\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210| 8/8 [00:00<00:00, 131.02it/s, loss=0.332, v_num=0, val_loss=0.252, train_loss_step=0.301]", 0.332, 0},
    {"Lightning-style bar of tqdm 4.70.1", "train_loss_step",
     "\rEpoch 0:   0%|          | 0/8 [00:00<?, ?it/s]\rEpoch 0:  50%|\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210     | 4/8 [00:00<00:00, 120.11it/s, loss=0.41, v_num=0]\rEpoch 0: 100%|\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210| 8/8 [00:00<00:00, 131.02it/s, loss=0.332, v_num=0, val_loss=0.252, train_loss_step=0.301]", 0.301, 0},
    {"print with end=\"\\\\r\"", "val_acc",
     "epoch 0 loss 1.000 val_acc=0.5\repoch 1 loss 0.500 val_acc=0.6\repoch 2 loss 0.333 val_acc=0.7\r", 0.7, 2},
    {"Trainer of Transformers 4.30.2", "eval_loss",
     "{'eval_loss': 0.39554277062416077, 'eval_accuracy': 0.9, 'eval_runtime': 0.0035, 'eval_samples_per_second': 18143.66, 'eval_steps_per_second': 2267.958, 'epoch': 1.0}", 0.39554277062416077, 1},
    {"Trainer of Transformers 4.30.2", "eval_accuracy",
     "{'eval_loss': 0.39554277062416077, 'eval_accuracy': 0.9, 'eval_runtime': 0.0035, 'eval_samples_per_second': 18143.66, 'eval_steps_per_second': 2267.958, 'epoch': 1.0}", 0.9, 1},
    {"Trainer of Transformers 4.30.2, in the middle of an epoch", "loss",
     "{'loss': 0.466, 'learning_rate': 3.125e-05, 'epoch': 0.75}", 0.466, 1},
    {"Trainer of Transformers 4.30.2", "learning_rate",
     "{'loss': 0.466, 'learning_rate': 3.125e-05, 'epoch': 0.75}", 3.125e-05, 1},
    {"Trainer of Transformers 4.30.2", "train_loss",
     "{'train_runtime': 0.0275, 'train_samples_per_second': 4655.569, 'train_steps_per_second': 290.973, 'train_loss': 0.3956465944647789, 'epoch': 2.0}", 0.3956465944647789, 2},
    {"Trainer of Transformers 4.30.2", "loss",
     "{'eval_loss': 0.39554277062416077, 'eval_accuracy': 0.9, 'eval_runtime': 0.0035, 'eval_samples_per_second': 18143.66, 'eval_steps_per_second': 2267.958, 'epoch': 1.0}", std::nullopt, 0},
    {"Ignite 0.4.13, progress bar", "loss",
     "\r[1/3]  33%|\342\226\210\342\226\210\342\226\210\342\226\216       [00:00<?]\rEpoch [2/2]: [1/3]  33%|\342\226\210\342\226\210\342\226\210\342\226\216      , loss=0.976 [00:00<?]", 0.976, 2},
    {"Ignite 0.4.13, as its examples print", "accuracy",
     "Validation Results - Epoch[1] Avg accuracy: 0.90 Avg loss: 0.30", 0.9, 1},
    {"Ignite 0.4.13, as its examples print", "Avg loss",
     "Validation Results - Epoch[2] Avg accuracy: 0.90 Avg loss: 0.30", 0.3, 2},
    {"scikit-learn 1.2.1, MLPClassifier", "loss",
     "Iteration 3, loss = 0.97969400", 0.979694, 3},
    {"scikit-learn 1.2.1, MLPClassifier", "Validation score",
     "Validation score: 0.866667", 0.866667, 1},
    {"scikit-learn 1.2.1, SGDClassifier", "loss",
     "-- Epoch 1\nNorm: 141.31, NNZs: 4, Bias: -0.697705, T: 150, Avg. loss: 139.957475", 139.957475, 1},
    {"scikit-learn 1.2.1, SGDClassifier", "Bias",
     "-- Epoch 2\nNorm: 141.31, NNZs: 4, Bias: -0.697705, T: 150, Avg. loss: 139.957475", -0.697705, 2},
    {"scikit-learn 1.2.1, cross_val_score", "Accuracy",
     "Accuracy: 0.85 (+/- 0.22)", 0.85, 1},
    {"scikit-learn 1.2.1, cross_val_score", "Accuracy",
     "Accuracy: 0.8533333333333333", 0.8533333333333333, 1},
    {"scikit-learn 1.2.1, an array", "score",
     "score: [1.         0.96666667 0.76666667 0.73333333 0.8       ]", std::nullopt, 0},
    {"scikit-learn 1.2.1, GradientBoostingClassifier", "Train Loss",
     "      Iter       Train Loss   Remaining Time \n         1           0.9157            0.00s", std::nullopt, 0},
    {"scikit-learn 1.2.1, classification_report", "accuracy",
     "    accuracy                           1.00       150", std::nullopt, 0},
    {"XGBoost 1.7.4", "validation-logloss",
     "[2]\ttrain-logloss:0.22107\tvalidation-logloss:0.22107", 0.22107, 2},
    {"XGBoost 1.7.4", "train-logloss",
     "[2]\ttrain-logloss:0.22107\tvalidation-logloss:0.22107", 0.22107, 2},
    {"XGBoost 1.7.4, another metric", "logloss",
     "[2]\ttrain-logloss:0.22107\tvalidation-logloss:0.22107", std::nullopt, 0},
    {"LightGBM 4.7.0", "auc",
     "[3]\ttraining's binary_logloss: 0.413362\ttraining's auc: 0.9999", 0.9999, 3},
    {"LightGBM 4.7.0", "binary_logloss",
     "[3]\ttraining's binary_logloss: 0.413362\ttraining's auc: 0.9999", 0.413362, 3},
    {"CatBoost 1.2.10", "test",
     "2:\tlearn: 0.5563602\ttest: 0.5564255\tbest: 0.5564255 (2)\ttotal: 47ms\tremaining: 0us", 0.5564255, 2},
    {"CatBoost 1.2.10", "learn",
     "2:\tlearn: 0.5563602\ttest: 0.5564255\tbest: 0.5564255 (2)\ttotal: 47ms\tremaining: 0us", 0.5563602, 2},
    {"CatBoost 1.2.10", "best",
     "2:\tlearn: 0.5563602\ttest: 0.5564255\tbest: 0.5564255 (2)\ttotal: 47ms\tremaining: 0us", 0.5564255, 2},
    {"CatBoost 1.2.10", "bestTest",
     "bestTest = 0.556425535", 0.556425535, 1},
    {"Rich 15.0.0, in colour", "val_acc",
     "\033[1mval_acc\033[0m: \033[1;32m0.93\033[0m \033[33mepoch\033[0m=\033[1;36m3\033[0m", 0.93, 3},
    {"Rich 15.0.0, in colour, a dict", "val_acc",
     "\033[1m{\033[0m\033[32m'val_acc'\033[0m: \033[1;36m0.94\033[0m, \033[32m'epoch'\033[0m: \033[1;36m4\033[0m\033[1m}\033[0m", 0.94, 4},
    {"Python 3.11, print", "loss",
     "val_loss: 0.5", std::nullopt, 0},
    {"Python 3.11, print", "loss",
     "train/loss=0.5", std::nullopt, 0},
    {"Python 3.11, print", "loss",
     "--loss=0.5", std::nullopt, 0},
    {"Python 3.11, print", "train/loss",
     "train/loss=0.5", 0.5, 1},
    {"Python 3.11, print", "top-1",
     "top-1: 77.1%", 77.1, 1},
    {"Python 3.11, print", "acc",
     "acc: 93.1%", 93.1, 1},
    {"Python 3.11, print", "acc",
     "acc: 0,93", std::nullopt, 0},
    {"Python 3.11, print", "acc",
     "acc: n/a", std::nullopt, 0},
    {"Python 3.11, print", "acc",
     "Namespace(acc='high', lr=0.1)", std::nullopt, 0},
    {"Python 3.11, print", "acc",
     "acc=0.5 (best acc=0.9)", 0.5, 1},
    {"Python 3.11, print, several sets of data", "loss",
     "Epoch 1: loss: 0.5000 | val loss: 0.4 | acc: 0.8 (best acc: 0.9)", 0.5, 1},
    {"Python 3.11, print, several sets of data", "acc",
     "Epoch 1: loss: 0.5000 | val loss: 0.4 | acc: 0.8 (best acc: 0.9)", 0.8, 1},
    {"Python 3.11, print, several sets of data", "val loss",
     "Epoch 1: loss: 0.5000 | val loss: 0.4 | acc: 0.8 (best acc: 0.9)", 0.4, 1},
    {"Python 3.11, print, several sets of data", "loss",
     "val loss: 0.4, loss: 0.5", 0.5, 1},
    {"Python 3.11, print, several sets of data", "loss",
     "val loss: 0.4", 0.4, 1},
    {"Python 3.11, print, several sets of data", "loss",
     "train loss: 0.5, test loss: 0.4", 0.4, 1},
    {"Python 3.11, print, several sets of data", "loss",
     "epoch 1 loss: 0.5\nepoch 1 test loss: 0.4\nepoch 2 loss: 0.3\nepoch 2 test loss: 0.2", 0.3, 2},
    {"Python 3.11, print, several sets of data", "accuracy",
     "epoch 1 accuracy=0.6\nFinal accuracy: 0.9", 0.6, 1},
    {"Python 3.11, print, a number before the name", "loss",
     "Epoch 3 loss: 0.5 val loss: 0.4", 0.5, 3},
    {"Python 3.11, print, a number before the name", "loss",
     "Epoch 3/10 loss: 0.5 best loss: 0.4", 0.5, 3},
    {"Python 3.11, print, a number before the name", "loss",
     "acc=0.5 loss=0.3 best loss=0.2", 0.3, 1},
    {"Python 3.11, print, a number before the name", "loss",
     "acc: nan loss: 0.3 best loss: 0.2", 0.3, 1},
    {"Python 3.11, print, a number before the name", "loss",
     "took 12ms loss: 0.3 best loss: 0.2", 0.3, 1},
    {"Python 3.11, print, a number before the name", "loss",
     "epoch3 loss: 0.3 best loss: 0.2", 0.3, 3},
    {"Python 3.11, print, a value before the name", "loss",
     "opt=adam loss=0.3 best loss=0.2", 0.3, 1},
    {"Python 3.11, print, a mark before the name", "loss",
     "[train] loss=0.5 best loss=0.2", 0.5, 1},
    {"Python 3.11, print, a mark before the name", "loss",
     "Train: loss=0.5; best loss=0.2", 0.5, 1},
    {"Python 3.11, print, a mark before the name", "loss",
     "training  loss=0.5  best loss=0.2", 0.5, 1},
    {"Python 3.11, print, a mark before the name", "loss",
     "training \342\224\202 loss=0.5 best loss=0.2", 0.5, 1},
    {"Python 3.11, print, a mark before the name", "loss",
     "training - loss=0.5 - best loss=0.2", 0.5, 1},
    {"Python 3.11, logging", "loss",
     "INFO:root:loss=0.5 best loss=0.2", 0.5, 1},
    {"Python 3.11, logging", "loss",
     "INFO loss: 0.5, best loss: 0.2", 0.5, 1},
    {"Python 3.11, logging", "loss",
     "2026-01-01 INFO trainer - loss: 0.5, best loss: 0.2", 0.5, 1},
    {"Python 3.11, logging", "loss",
     "2026-01-01 12:00:00 loss: 0.5, best loss: 0.2", 0.5, 1},
    {"Python 3.11, print of a dict", "loss",
     "{'loss': 0.5, 'best loss': 0.2}", 0.5, 1},
    {"LightGBM 4.7.0", "auc",
     "[3]\ttraining's auc: 0.9999\tvalid_0's auc: 0.97", 0.97, 3},
    {"Python 3.11, print", "acc",
     "acc=1e-08", 1e-08, 1},
    {"Python 3.11, print", "latency",
     "latency: 20ms", 20, 1},
    {"Python 3.11, print", "acc",
     "step=12 acc=.5", 0.5, 12},
    {"Python 3.11, print", "acc",
     "iter 1200: acc 0.4, acc: 0.5", 0.5, 1200},
    {"Python 3.11, print", "acc",
     "epoch #3 acc: 0.5", 0.5, 3},
    {"Python 3.11, print", "acc",
     "===== Epoch 3 =====\nacc: 0.5", 0.5, 3},
    {"Python 3.11, print", "acc",
     "epoch 3 of 10\nacc: 0.5", 0.5, 3},
    {"Python 3.11, print", "acc",
     "\"acc\": \"0.5\"", 0.5, 1},
};
// clang-format on

TEST(LineTable, WhatTrainersPrintIsRead) {
  static_assert(std::size(kLines) >= 80);
  for (const LineCase& each : kLines) {
    SCOPED_TRACE(std::string(each.writer) + ": " + each.metric + " in\n" + each.lines);
    const std::vector<WantedMetric> wanted = {{.name = each.metric, .source = {}}};
    Sightings sightings(wanted);
    LineCollector collector(LineMatcher::Create(wanted).value(), sightings);
    std::vector<Measurement> found;
    std::string_view rest = each.lines;
    while (!rest.empty()) {
      const std::size_t newline = rest.find('\n');
      collector.Take(absl::UnixEpoch(), rest.substr(0, newline), found);
      rest = newline == std::string_view::npos ? "" : rest.substr(newline + 1);
    }
    collector.Flush(found);
    ASSERT_EQ(!found.empty(), each.value.has_value());
    if (found.empty()) continue;
    const double value = found.back().metrics.at(each.metric);
    if (std::isnan(*each.value)) {
      EXPECT_TRUE(std::isnan(value));
    } else {
      EXPECT_EQ(value, *each.value);
    }
    EXPECT_EQ(found.back().step, each.step);
  }
}

}  // namespace
}  // namespace vernier::metrics
