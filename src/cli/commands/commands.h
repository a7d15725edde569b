#pragma once

#include "CLI/App.hpp"
#include "src/cli/context.h"

// Each function adds a command to its group; parsing stores the command's action in `chosen`.
namespace vernier::cli {

// Groups with all their commands.
void AddStudyCommands(CLI::App& root, Action& chosen);
void AddTrialCommands(CLI::App& root, Action& chosen);
void AddServerCommands(CLI::App& root, Action& chosen);
// Commands of `server`: check, backup, restore, compact.
void AddStoreCommands(CLI::App& server, Action& chosen);
void AddCleanCommand(CLI::App& server, Action& chosen);
void AddJobCommands(CLI::App& root, Action& chosen);
void AddLocalCommands(CLI::App& root, Action& chosen);
void AddMetricsCommands(CLI::App& root, Action& chosen);
void AddNodeCommands(CLI::App& root, Action& chosen);
void AddQueueCommands(CLI::App& root, Action& chosen);

void AddStudyCreate(CLI::App& study, Action& chosen);
void AddStudyValidate(CLI::App& study, Action& chosen);
void AddStudyList(CLI::App& study, Action& chosen);
void AddStudyShow(CLI::App& study, Action& chosen);
void AddStudyBest(CLI::App& study, Action& chosen);
void AddStudyWatch(CLI::App& study, Action& chosen);
void AddStudyWait(CLI::App& study, Action& chosen);
void AddStudyPause(CLI::App& study, Action& chosen);
void AddStudyResume(CLI::App& study, Action& chosen);
void AddStudyStop(CLI::App& study, Action& chosen);
void AddStudyFinish(CLI::App& study, Action& chosen);
void AddStudyAmend(CLI::App& study, Action& chosen);
void AddStudyDelete(CLI::App& study, Action& chosen);
void AddStudyImport(CLI::App& study, Action& chosen);
void AddStudyExport(CLI::App& study, Action& chosen);
void AddStudyPredict(CLI::App& study, Action& chosen);
void AddStudyReplay(CLI::App& study, Action& chosen);
void AddStudyReport(CLI::App& study, Action& chosen);
void AddStudyStoppingReport(CLI::App& study, Action& chosen);

void AddTrialList(CLI::App& trial, Action& chosen);
void AddTrialShow(CLI::App& trial, Action& chosen);
void AddTrialLogs(CLI::App& trial, Action& chosen);
void AddTrialMetrics(CLI::App& trial, Action& chosen);
void AddTrialWhy(CLI::App& trial, Action& chosen);
void AddTrialStop(CLI::App& trial, Action& chosen);
void AddTrialDelete(CLI::App& trial, Action& chosen);
void AddTrialAdd(CLI::App& trial, Action& chosen);
void AddTrialRepeat(CLI::App& trial, Action& chosen);

void AddRun(CLI::App& root, Action& chosen);
void AddInit(CLI::App& root, Action& chosen);
void AddAskTell(CLI::App& root, Action& chosen);
void AddReport(CLI::App& root, Action& chosen);
void AddPlot(CLI::App& root, Action& chosen);
void AddDoctor(CLI::App& root, Action& chosen);
void AddCompletion(CLI::App& root, Action& chosen);

}  // namespace vernier::cli
