#include "src/cli/init/source_metrics.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vernier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "val_acc" of each metric, or "acc: {after: 'acc '}".
std::vector<std::string> Read(std::string_view source) {
  std::vector<std::string> texts;
  for (const SourceMetric& metric : MetricsIn(source)) {
    texts.push_back(metric.name + (metric.entry.empty() ? "" : ": " + metric.entry));
  }
  return texts;
}

TEST(MetricsIn, PutsValidationFirst) {
  EXPECT_THAT(Read("print(f'train_loss={a} val_loss={b:.3f} val_acc={c}')\n"
                   "print('epoch', x)\nlr = 'accuracy=1'\n"),
              ElementsAre("val_acc", "val_loss", "train_loss"));
  EXPECT_THAT(Read("import os\nx = 1\n"), IsEmpty());
}

TEST(MetricsIn, SeesWhatIsPrintedWithASeparator) {
  EXPECT_THAT(Read("print(json.dumps({'accuracy': a, 'epoch': e}))"), ElementsAre("accuracy"));
  EXPECT_THAT(Read("print('val_acc:', acc)"), ElementsAre("val_acc"));
  EXPECT_THAT(Read("print(f'val/f1 = {f1:.3f}')"), ElementsAre("val/f1"));
  EXPECT_THAT(Read("print(f'{acc=:.3f}')"), ElementsAre("acc"));
  EXPECT_THAT(Read("logging.info('epoch %d: val_acc=%.3f', e, a)"), ElementsAre("val_acc"));
  EXPECT_THAT(Read("print(\n    'a line of its own '\n    f'acc={acc}')"), ElementsAre("acc"));
  EXPECT_THAT(Read("hpt.report_hyperparameter_tuning_metric(\n"
                   "    hyperparameter_metric_tag='accuracy', metric_value=a)"),
              ElementsAre("accuracy"));
}

TEST(MetricsIn, SeesTheExampleOfPyTorch) {
  EXPECT_THAT(
      Read("print('Train Epoch: {} [{}/{} ({:.0f}%)]\\tLoss: {:.6f}'.format(\n    epoch))\n"
           "print('\\nTest set: Average loss: {:.4f}, Accuracy: {}/{} ({:.0f}%)\\n'.format(\n"
           "    test_loss, correct))"),
      ElementsAre("Accuracy", "Loss", "loss"));
}

TEST(MetricsIn, SaysHowToFindWhatHasOnlyABlankBehindIt) {
  EXPECT_THAT(Read("print(f'acc {acc:.2f}%')"), ElementsAre("acc: {after: 'acc '}"));
  EXPECT_THAT(Read("print('test acc %.2f%%' % acc)"),
              ElementsAre("test_acc: {after: 'test acc '}"));
  EXPECT_THAT(Read("print('test accuracy', x)"),
              ElementsAre("test_accuracy: {after: 'test accuracy '}"));
  // The name in a format is not printed.
  EXPECT_THAT(Read("print(f'{acc:.3f}')"), IsEmpty());
  EXPECT_THAT(Read("print(f'Best acc: {best:.3f}')"), IsEmpty());
}

TEST(MetricsIn, TellsSetsOfDataApart) {
  EXPECT_THAT(Read("print(f'train loss: {a} | val loss: {b}')"),
              ElementsAre("val_loss: {after: 'val loss:'}", "train_loss: {after: 'train loss:'}"));
}

TEST(MetricsIn, SeesProgressBarsAndLoggers) {
  EXPECT_THAT(Read("bar.set_postfix(loss=loss.item(), lr=lr)"), ElementsAre("loss"));
  EXPECT_THAT(Read("bar.set_postfix({'val_acc': acc})"), ElementsAre("val_acc"));
  EXPECT_THAT(Read("self.log('val_loss', loss, prog_bar=True)"), ElementsAre("val_loss"));
  EXPECT_THAT(Read("self.log('val_loss', loss)"),
              ElementsAre("val_loss: {tfevents: 'val_loss', folder: 'lightning_logs'}"));
  EXPECT_THAT(Read("wandb.log({\"val_acc\": acc, 'epoch': e})"), ElementsAre("val_acc"));
  EXPECT_THAT(MetricsIn("wandb.log({'val_acc': acc})").at(0).caveat,
              HasSubstr("wandb.log prints nothing"));
  // What is printed needs no more.
  EXPECT_THAT(MetricsIn("wandb.log({'val_acc': acc})\nprint(f'val_acc={acc}')").at(0).caveat, "");
}

TEST(MetricsIn, SeesEventFiles) {
  const std::string add = "writer.add_scalar(\"Loss/val\", loss, step)\n";
  EXPECT_THAT(Read("writer = SummaryWriter()\n" + add),
              ElementsAre("val_loss: {tfevents: 'Loss/val', folder: 'runs'}"));
  EXPECT_THAT(Read("writer = SummaryWriter(log_dir='logs')\n" + add),
              ElementsAre("val_loss: {tfevents: 'Loss/val', folder: 'logs'}"));
  EXPECT_THAT(Read("writer = SummaryWriter(args.job_dir)\n" + add),
              ElementsAre("val_loss: {tfevents: 'Loss/val'}"));
}

TEST(MetricsIn, SurvivesWhatIsNoPython) {
  for (const char* const source : {"print(",
                                   "print('",
                                   "print('\\",
                                   "print(f'{",
                                   "print('%",
                                   "add_scalar(",
                                   "set_postfix(=",
                                   "self.log(",
                                   "print(\"\"\"acc=",
                                   "print('''''')",
                                   "SummaryWriter(\nadd_scalar('loss', x)"}) {
    MetricsIn(source);
  }
}

TEST(IsMaximized, KnowsLosses) {
  for (const char* const name :
       {"loss", "val_loss", "rmse", "test_error", "perplexity", "val/loss", "Loss"}) {
    EXPECT_FALSE(IsMaximized(name)) << name;
  }
  for (const char* const name : {"accuracy", "val_acc", "f1", "reward"}) {
    EXPECT_TRUE(IsMaximized(name)) << name;
  }
}

}  // namespace
}  // namespace vernier::cli
