// Why programs fail, from what they print.

#include "src/launch/last_words.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::launch {
namespace {

using ::testing::EndsWith;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Each line of `text` is one of standard error; those that begin with "> " are of standard output.
LastWords Find(std::string_view text) {
  std::vector<base::OutputLine> lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const bool is_output = line.starts_with("> ");
    if (is_output) line.remove_prefix(2);
    lines.push_back({.time = {}, .is_error = !is_output, .text = line});
  }
  return FindLastWords(lines);
}

struct WordsCase {
  std::string name;
  std::string printed;
  std::string cause;
};
class LastWordsTest : public ::testing::TestWithParam<WordsCase> {};

TEST_P(LastWordsTest, FindTheCause) { EXPECT_EQ(Find(GetParam().printed).cause, GetParam().cause); }

// As Python 3.11 prints them.
INSTANTIATE_TEST_SUITE_P(
    Python,
    LastWordsTest,
    ::testing::ValuesIn(std::vector<WordsCase>{
        {"AnException",
         R"(Traceback (most recent call last):
  File "/home/ann/train.py", line 14, in <module>
    main()
  File "/home/ann/train.py", line 12, in main
    raise ValueError("bad lr")
ValueError: bad lr)",
         "ValueError: bad lr (train.py:12 in main)"},
        {"InTheModule",
         R"(Traceback (most recent call last):
  File "train.py", line 3, in <module>
    import torhc
ModuleNotFoundError: No module named 'torhc')",
         "ModuleNotFoundError: No module named 'torhc' (train.py:3)"},
        {"RaisedInALibrary",
         R"(Traceback (most recent call last):
  File "/home/ann/train.py", line 30, in main
    optimizer = SGD(model.parameters(), lr=-1.0)
  File "/usr/lib/python3/dist-packages/torch/optim/sgd.py", line 9, in __init__
    raise ValueError("Invalid learning rate: {}".format(lr))
ValueError: Invalid learning rate: -1.0)",
         "ValueError: Invalid learning rate: -1.0 (train.py:30 in main)"},
        {"AllInLibraries",
         R"(Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 198, in _run_module_as_main
    return _run_code(code, main_globals, None,
  File "/venv/lib/python3.11/site-packages/trainer/task.py", line 7, in <module>
    main()
OSError: [Errno 28] No space left on device)",
         "OSError: [Errno 28] No space left on device (task.py:7)"},
        {"CausedByAnother",
         R"(Traceback (most recent call last):
  File "/p/chain.py", line 5, in main
    build(0.1)
  File "/p/chain.py", line 2, in build
    if lr < 1: raise ValueError("bad lr")
               ^^^^^^^^^^^^^^^^^^^^^^^^^^
ValueError: bad lr

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/p/chain.py", line 8, in <module>
    main()
  File "/p/chain.py", line 7, in main
    raise RuntimeError("training failed") from e
RuntimeError: training failed)",
         "RuntimeError: training failed (chain.py:7 in main), caused by "
         "ValueError: bad lr (chain.py:2 in build)"},
        {"WhileHandlingAnother",
         R"(Traceback (most recent call last):
  File "/p/ctx.py", line 2, in <module>
    {}["lr"]
    ~~^^^^^^
KeyError: 'lr'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/p/ctx.py", line 4, in <module>
    open("/no/such/file")
FileNotFoundError: [Errno 2] No such file or directory: '/no/such/file')",
         "FileNotFoundError: [Errno 2] No such file or directory: "
         "'/no/such/file' (ctx.py:4), while handling KeyError: 'lr' "
         "(ctx.py:2)"},
        {"AGroup",
         R"(  + Exception Group Traceback (most recent call last):
  |   File "/p/group.py", line 6, in <module>
  |     raise ExceptionGroup("two tasks", es + [KeyError("x")])
  | ExceptionGroup: two tasks (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/p/group.py", line 4, in <module>
    |     try: f()
    |          ^^^
    |   File "/p/group.py", line 2, in f
    |     raise ValueError("bad lr")
    | ValueError: bad lr
    +---------------- 2 ----------------
    | KeyError: 'x'
    +------------------------------------)",
         "ValueError: bad lr (group.py:2 in f)"},
        {"ASyntaxError",
         R"(  File "/p/syn.py", line 1
    x = = 1
        ^
SyntaxError: invalid syntax)",
         "SyntaxError: invalid syntax (syn.py:1)"},
        {"AnAssertionWithoutAText",
         R"(Traceback (most recent call last):
  File "/p/assertp.py", line 2, in <module>
    assert lr < 1
           ^^^^^^
AssertionError)",
         "AssertionError: assert lr < 1 (assertp.py:2)"},
        {"FromAWorkerOfAPool",
         R"(multiprocessing.pool.RemoteTraceback: 
"""
Traceback (most recent call last):
  File "/usr/lib/python3.11/multiprocessing/pool.py", line 48, in mapstar
    return list(map(*args))
  File "/p/pool.py", line 2, in f
    def f(x): raise ValueError("bad lr %d" % x)
ValueError: bad lr 1
"""

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/p/pool.py", line 4, in <module>
    multiprocessing.Pool(1).map(f, [1])
  File "/usr/lib/python3.11/multiprocessing/pool.py", line 774, in get
    raise self._value
ValueError: bad lr 1)",
         "ValueError: bad lr 1 (pool.py:2 in f)"},
        {"FromADataLoader",
         R"(Traceback (most recent call last):
  File "/p/train.py", line 20, in <module>
    for batch in loader:
  File "/usr/lib/python3/dist-packages/torch/_utils.py", line 461, in reraise
    raise exception
ValueError: Caught ValueError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/torch/utils/data/_utils/worker.py", line 302, in _worker_loop
    data = fetcher.fetch(index)
  File "/p/data.py", line 8, in __getitem__
    raise ValueError("no image 7")
ValueError: no image 7)",
         "ValueError: no image 7 (data.py:8 in __getitem__)"},
        {"OfARankWithItsName",
         R"([rank1]: Traceback (most recent call last):
[rank1]:   File "/p/train.py", line 12, in main
[rank0]:[W1123 03:04:05.678 ProcessGroupNCCL.cpp:1250] Warning: process group has NOT been destroyed
[rank1]:     raise ValueError("bad lr")
[rank1]: ValueError: bad lr)",
         "ValueError: bad lr (train.py:12 in main)"},
        {"BehindALauncher",
         R"(Traceback (most recent call last):
  File "/p/train.py", line 12, in main
    raise ValueError("bad lr")
ValueError: bad lr
E1123 03:04:05.678000 140 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 150) of binary: /usr/bin/python3
Traceback (most recent call last):
  File "/usr/local/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/usr/lib/python3/dist-packages/torch/distributed/launcher/api.py", line 264, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-23_03:04:05
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 150)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================)",
         "ValueError: bad lr (train.py:12 in main)"},
        {"OfTensorFlowsGraph",
         R"(2026-11-23 03:04:05.678901: I tensorflow/core/platform/cpu_feature_guard.cc:182] This TensorFlow binary is optimized
2026-11-23 03:04:05.678901: W tensorflow/core/framework/op_kernel.cc:1830] OP_REQUIRES failed at matmul_op
Traceback (most recent call last):
  File "/p/train.py", line 10, in <module>
    model.fit(x, y)
  File "/venv/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py", line 70, in error_handler
    raise e.with_traceback(filtered_tb) from None
tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:

Detected at node 'sequential/dense/MatMul' defined at (most recent call last):
<stack traces unavailable>
Node: 'sequential/dense/MatMul'
Matrix size-incompatible: In[0]: [32,10], In[1]: [20,5]
	 [[{{node sequential/dense/MatMul}}]] [Op:__inference_train_function_789])",
         "InvalidArgumentError: Matrix size-incompatible: In[0]: [32,10], "
         "In[1]: [20,5] (train.py:10)"},
        {"BeforeTheWordsOfItsExit",
         R"(Traceback (most recent call last):
  File "train.py", line 2, in <module>
    raise ValueError("bad lr")
ValueError: bad lr
wandb: View run at https://example.org/run
/usr/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 1 leaked semaphore objects to clean up at shutdown
  warnings.warn('resource_tracker: There appear to be %d '
srun: error: node1: task 0: Exited with exit code 1
make: *** [Makefile:2: train] Error 1)",
         "ValueError: bad lr (train.py:2)"},
        {"OfADestructorIsNoCause",
         R"(error: no data in folder
Exception ignored in: <function A.__del__ at 0x7f3d680644a0>
Traceback (most recent call last):
  File "/p/destr.py", line 3, in __del__
TypeError: late)",
         "error: no data in folder"},
        {"ThatWasLogged",
         R"(ERROR:root:training failed
Traceback (most recent call last):
  File "/p/logg.py", line 3, in <module>
    try: 1/0
         ~^~
ZeroDivisionError: division by zero
INFO:root:bye)",
         "ZeroDivisionError: division by zero (logg.py:3)"},
        {"InAFieldOfJson",
         R"({"severity": "ERROR", "message": "failed", "exc_info": "Traceback (most recent call last):\n  File \"t.py\", line 3, in f\n    raise ValueError(1)\nValueError: 1"})",
         "ValueError: 1 (t.py:3 in f)"},
        {"OfTheFaultHandler",
         R"(Fatal Python error: Segmentation fault

Current thread 0x00007f1956817b80 (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/p/abrt.py", line 3 in crash
  File "/p/abrt.py", line 4 in <module>

Extension modules: numpy.core._multiarray_umath (total: 1)
Segmentation fault (core dumped))",
         "Fatal Python error: Segmentation fault (abrt.py:3 in crash)"},
        {"UsageOfArguments",
         R"(usage: train.py [-h] [--lr LR]
train.py: error: unrecognized arguments: --batch=3)",
         "train.py: error: unrecognized arguments: --batch=3"},
        {"NoSuchScript",
         "python3: can't open file '/p/trian.py': [Errno 2] No such file",
         "python3: can't open file '/p/trian.py': [Errno 2] No such file"},
        {"UsageOfClick",
         R"(Usage: train.py [OPTIONS]
Try 'train.py --help' for help.

Error: No such option: --lr)",
         "Error: No such option: --lr"},
        {"UsageOfAbsl",
         R"(FATAL Flags parsing error:
  Unknown command line flag 'lr'. Did you mean: l ?
Pass --helpshort or --helpfull to see help on flags.)",
         "FATAL Flags parsing error: Unknown command line flag 'lr'. Did you "
         "mean: l ?"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Others,
    LastWordsTest,
    ::testing::ValuesIn(std::vector<WordsCase>{
        {"Terminate",
         R"(terminate called after throwing an instance of 'std::runtime_error'
  what():  bad lr
Aborted (core dumped))",
         "std::runtime_error: bad lr"},
        {"TerminateWithAStack",
         R"(terminate called after throwing an instance of 'c10::Error'
  what():  CUDA error: device-side assert triggered
Exception raised from c10_cuda_check_implementation at CUDAException.cpp:43 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x6b (0x7f libc10.so))",
         "c10::Error: CUDA error: device-side assert triggered"},
        {"Assert",
         "train: main.cc:12: int main(): Assertion `lr > 0' failed.\nAborted",
         "train: main.cc:12: int main(): Assertion `lr > 0' failed."},
        {"Glog",
         R"(I1123 03:04:05.678901 12345 trainer.cc:60] starting
F1123 03:04:05.678901 12345 src/trainer.cc:67] Check failed: lr > 0 (-1 vs. 0)
*** Check failure stack trace: ***
    @     0x7f0000000000  google::LogMessage::Fail())",
         "Check failed: lr > 0 (-1 vs. 0) (trainer.cc:67)"},
        {"Rust",
         R"(thread 'main' panicked at src/main.rs:2:5:
bad lr
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace)",
         "panic: bad lr (main.rs:2:5)"},
        {"Go",
         "panic: bad lr\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:5 +0x1d\nexit status "
         "2",
         "panic: bad lr"},
        {"Java",
         "Exception in thread \"main\" java.lang.RuntimeException: bad lr\n\tat "
         "Main.main(M.java:3)",
         "Exception in thread \"main\" java.lang.RuntimeException: bad lr"},
        {"R", "Error in f() : bad lr\nCalls: f\nExecution halted", "Error in f() : bad lr"},
        {"Shell",
         "train.sh: line 3: trian: command not found",
         "train.sh: line 3: trian: command not found"},
        {"BehindSlurm",
         "data.csv: No such file or directory\nsrun: error: node1: task 0: Exited with exit code 1",
         "data.csv: No such file or directory"},
        {"Coloured", "\x1b[31mERROR\x1b[0m no \x1b[1mdata\x1b[0m\r", "ERROR no data"},
        {"BehindAProgressBar",
         "fatal: no memory\n 10%|#         | 1/10 [00:01<00:09, 1.0s/it]\r 20%|##        | 2/10 "
         "[00:02<00:08, 1.0s/it]",
         "fatal: no memory"},
        {"OverwrittenByAProgressBar",
         "fatal: no memory\r 20%|##        | 2/10 [00:02<00:08, 1.0s/it]",
         "fatal: no memory"},
        {"AmongWarnings",
         R"(W0000 00:00:1732330000.123456 12345 cuda.cc:12] no device
2026-11-23 03:04:05.678901: E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:477] Unable to register cuFFT factory
train.py: cannot read data.csv
/p/x.py:3: FutureWarning: `torch.load` may fail in future
  state = torch.load(path))",
         "train.py: cannot read data.csv"},
        {"JsonThatSaysError",
         R"(> {"severity": "INFO", "message": "starting, no error yet"}
> {"severity": "ERROR", "message": "the following arguments are required: --type"})",
         "the following arguments are required: --type"},
        {"OnStandardOutput", "> epoch=1 loss=0.3\n> error: no data", "error: no data"},
        {"OutputBehindATraceback",
         R"(Traceback (most recent call last):
  File "t.py", line 3, in f
    raise ValueError(1)
ValueError: 1
> epoch=1 error=0.3
> epoch=2 error=0.2)",
         "ValueError: 1 (t.py:3 in f)"},
        {"ProgressIsNoCause", "> epoch=1 error=0.3\n> epoch=2 loss=0.2", ""},
        {"Nothing", "", ""},
        {"OnlyWarnings",
         "x.py:3: UserWarning: no GPU, training may fail\nWARNING:root:error bound",
         ""},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LastWords, TellTheLastLineWhereNothingIsACause) {
  EXPECT_EQ(Find("> epoch=1 loss=0.3\n> epoch=2 loss=0.2\nWARNING:root:slow").last_line,
            "WARNING:root:slow");
  EXPECT_EQ(Find("> epoch=1 loss=0.3\n> epoch=2 loss=0.2\n[vernier] restart 1 of 5").last_line,
            "epoch=2 loss=0.2");
  EXPECT_EQ(Find("").last_line, "");
  EXPECT_EQ(Find("error: x\nbye").last_line, "");
}

// What killed the program is at its end.
TEST(LastWords, ATracebackThatWasSurvivedIsNoCause) {
  std::string printed =
      "Traceback (most recent call last):\n  File \"t.py\", line 3, in f\n    g()\nValueError: 1\n";
  for (int i = 0; i < 200; ++i) printed += "epoch " + std::to_string(i) + "\n";
  EXPECT_EQ(Find(printed).cause, "");
  EXPECT_EQ(Find(printed + "fatal: disk full").cause, "fatal: disk full");
}

TEST(LastWords, AreOneBoundedPrintableLine) {
  const std::string cause = Find("error: \x07" + std::string(1000, 'x')).cause;
  EXPECT_THAT(cause, StartsWith("error: xxx"));
  EXPECT_THAT(cause, SizeIs(::testing::Le(kLongestWords)));
  EXPECT_THAT(cause, EndsWith("x…"));
  std::string umlauts = "error: ";
  for (int i = 0; i < 500; ++i) umlauts += "ü";
  EXPECT_THAT(Find(umlauts).cause, EndsWith("ü…"));
  EXPECT_EQ(Find("error: \xff\xfe bad").cause, "error: \xEF\xBF\xBD\xEF\xBF\xBD bad");
  const std::string raised =
      "Traceback (most recent call last):\n  File \"t.py\", line 3, in f\n"
      "    g()\nValueError: " +
      std::string(1000, 'y');
  EXPECT_THAT(Find(raised).cause, EndsWith("yyy… (t.py:3 in f)"));
}

struct PeerWordsCase {
  std::string name;
  std::string printed;
  bool lost_peer;
};
class PeerWordsTest : public ::testing::TestWithParam<PeerWordsCase> {};

TEST_P(PeerWordsTest, IsTold) {
  const LastWords words = Find(GetParam().printed);
  EXPECT_NE(words.cause, "");
  EXPECT_EQ(words.lost_peer, GetParam().lost_peer) << words.cause;
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    PeerWordsTest,
    ::testing::ValuesIn(std::vector<PeerWordsCase>{
        {"Gloo",
         "Traceback (most recent call last):\n  File \"t.py\", line 3, in f\n    all_reduce(x)\n"
         "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by "
         "peer [127.0.0.1]:30104",
         true},
        {"GlooInCpp",
         "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
         "  what():  [enforce fail at pair.cc:534] Connection reset by peer",
         true},
        {"TensorFlow",
         "Traceback (most recent call last):\n  File \"t.py\", line 3, in f\n    fit()\n"
         "tensorflow.python.framework.errors_impl.UnavailableError: Graph execution error:\n\n"
         "Collective ops is aborted by: Socket closed\n\t [[{{node all_reduce}}]]",
         true},
        {"AnErrorOfItsOwn", "error: bad lr", false},
        {"AnExceptionOfItsOwn",
         "Traceback (most recent call last):\n  File \"t.py\", line 3, in f\n    g()\nValueError: "
         "1",
         false}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace vernier::launch
