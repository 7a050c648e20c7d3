#include "app/window/app.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gpu/provider.h"
#include "app/window/actions/actions.h"
#include "app/window/files.h"
#include "app/window/jobs/calibration_job.h"
#include "app/window/jobs/cost_job.h"
#include "app/window/jobs/export_job.h"
#include "app/window/jobs/generation.h"
#include "app/window/jobs/play.h"
#include "app/window/jobs/surprise_job.h"
#include "app/window/last_resort.h"
#include "app/window/opening.h"
#include "app/window/picking.h"
#include "app/window/surprise.h"
#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/view/session.h"

namespace attnscope::window {

namespace {

constexpr double kBusyTick = 0.1;       // seconds between the frames of the busy sign
constexpr int kMostFailedFrames = 3;    // one after the other
constexpr double kPlayTick = 1.0 / 60;  // seconds between frames while something plays

Settings with_options(Settings settings, const WindowOptions& options) {
  if (options.width > 0) {
    settings.width = options.width;
    settings.height = options.height;
    settings.maximised = false;
  }
  if (options.scale > 0) settings.scale = options.scale;
  if (options.dark) settings.dark = *options.dark;
  return settings;
}

// Whether the one's view reads something that is made with a run, and the other's does not.
bool reads_more(const Experiment& one, const Experiment& other) {
  const View& of_one = view(one.view.id);
  return std::ranges::any_of(of_one.findings, [&](const std::string& name) {
    return finding(name).with_run && !view(other.view.id).reads(name) &&
           name != Findings::reference.id;  // which every view may show
  });
}

}  // namespace

App::App(const WindowOptions& options)
    : options_(options),
      folder_(configuration_folder()),
      saved_(),
      autosave_(folder_),
      platform_([&] {
        LoadedSettings loaded = load_settings(folder_ / "window.json");
        saved_ = loaded.settings;
        state_.settings = with_options(loaded.settings, options);
        if (!loaded.notice.empty()) state_.say(loaded.notice);
        begin_baking();
        return state_.settings;
      }()),
      input_(platform_.window()),
      imgui_(platform_.window(), baked()),
      painter_(platform_.can_compute()),
      screen_(Painter::drawing) {
  set_told_in_window(true);
  ui_.fonts.watch();
  ui_.report = Report(options.report);
  state_.gpu = platform_.describe();
  panels_.model.models = bundled_groups();
  if (ModelGroup downloaded = downloaded_group(); !downloaded.models.empty()) {
    panels_.model.models.push_back(std::move(downloaded));
  }
  panels_.picture.live = live_findings([] { glfwPostEmptyEvent(); });
  start_experiment(options);
  state_.exporting.backends =
      gpu_backends([this] { return platform_.compute_context(); }, calibration_file(), ending_);
  runner_ = std::make_unique<Runner>(state_.exporting.backends, [] { glfwPostEmptyEvent(); });
  request_run();
}

// All at once, before any is waited for.
void App::stop_jobs() {
  runner_->cancel();
  finding_jobs_.stop();
  if (state_.exporting.job != nullptr) state_.exporting.job->cancel();
  if (state_.surprises.job != nullptr) state_.surprises.job->cancel();
  if (state_.cost.job != nullptr) state_.cost.job->cancel();
  if (state_.calibration.job != nullptr) state_.calibration.job->cancel();
}

std::string App::unwritten() const {
  const auto& job = state_.exporting.job;
  return job != nullptr && !job->over() ? job->path().string() : "";
}

// What may hold textures goes while there is a context to free them in.
App::~App() {
  ending_.request();
  stop_jobs();
  speaker_.reset();
  runner_.reset();
  finding_jobs_.cancel();
  state_.exporting.job.reset();
  state_.surprises.job.reset();
  state_.opening.clear();
  state_.cost.job.reset();
  state_.calibration.job.reset();
  state_.exporting.backends = {};
  panels_ = {};
  state_.trace.reset();
  state_.findings = {};
}

// Drawing the glyphs and making a window take as long as each other, and neither needs the other,
// but for the monitor's scale: where that is another than was thought, they are drawn again.
void App::begin_baking() {
#if IMGUI_VERSION_NUM < 19200
  const double scale = state_.settings.scale > 0 ? state_.settings.scale : 1;
  baking_ = std::async(std::launch::async, [this, scale] { ui_.fonts.load(atlas_, scale); });
#endif
}

ImFontAtlas& App::baked() {
  if (baking_.valid()) baking_.get();
  return atlas_;
}

void App::start_experiment(const WindowOptions& options) {
  bool fresh = false;
  if (const auto file = autosave_.abandoned()) state_.abandoned = *file;
  if (!samples().empty()) read_sample(state_.experiment, samples().front());
  const std::filesystem::path last = folder_ / "last-session.json";
  std::error_code none;
  if (options.session) {
    state_.experiment = load_session(*options.session);
    state_.session = *options.session;
    state_.settings.add_recent(
        std::filesystem::absolute(*options.session).lexically_normal().string());
  } else if (std::filesystem::exists(last, none)) {
    try {
      state_.experiment = load_session(last);
    } catch (const std::exception&) {
      state_.say("The last session could not be read; this is a new one.");
    }
  } else {
    fresh = !options.asks_for_something();
  }
  if (options.model) {
    state_.experiment = with_model(state_.experiment, *options.model).experiment;
  }
  if (options.text) state_.experiment = reading_text(*options.text, state_.experiment);
  if (options.input) state_.experiment = opened(*options.input, state_.experiment);
  if (options.target) {
    state_.experiment.target = *options.target;
    state_.experiment.target_ids.clear();
  }
  const bool opens_lesson = options.open && is_lesson(*options.open);
  if (options.open && !opens_lesson) {
    state_.experiment = opened(*options.open, state_.experiment);
    state_.settings.add_recent(
        std::filesystem::absolute(*options.open).lexically_normal().string());
    if (!options.tokens.empty()) state_.experiment.tensors.tokens = options.tokens;
    if (!options.key_tokens.empty()) state_.experiment.tensors.key_tokens = options.key_tokens;
  }
  if (options.look) options.look(state_.experiment.view);
  state_.view_settled = false;
  if (begins_tour(options, state_.settings.tour_done)) state_.tour_stop = 0;
  if (fresh) state_.fresh = state_.experiment;
  state_.history = History(state_.experiment);
  state_.text.edit.assign(state_.experiment.text);
  if (!options.lesson.empty()) start_lesson(state_, find_lesson(options.lesson));
  if (opens_lesson) start_lesson(state_, load_lesson(*options.open));
  if (options.present) set_presenting(state_, true);
}

double App::next_timer() const {
  double next = -1;
  const auto at_most = [&next](double seconds) {
    seconds = std::max(seconds, 0.001);
    next = next < 0 ? seconds : std::min(next, seconds);
  };
  if (runner_->busy()) at_most(std::max(kBusyTick, kBusyShown - runner_->busy_seconds()));
  if (state_.view.play.on) at_most(state_.view.play.seconds + kPlayTick - glfwGetTime());
  if (state_.exporting.job != nullptr || state_.cost.job != nullptr ||
      state_.calibration.job != nullptr || state_.surprises.job != nullptr ||
      !state_.opening.empty()) {
    at_most(kBusyTick);
  }
  if (speaker_ != nullptr) at_most(speaker_drawn_ + 1 - (state_.seconds - state_.lesson.began));
  if (const double due = panels_.steps->due(state_); due >= 0) at_most(due);
  if (ui_.hinting.wait > 0) at_most(drawn_at_ + ui_.hinting.wait - glfwGetTime());
  if (const auto due = autosave_.due()) at_most(*due - glfwGetTime());
  for (const Notice& n : state_.notices) {
    if (!n.error) at_most(n.until - glfwGetTime());
  }
  return next;
}

void App::wait() {
  const bool speaker = speaker_ != nullptr && speaker_->pending();
  if (settle_ > 0 || input_.pending() || fade_.on() || speaker) {
    glfwPollEvents();
    return;
  }
  if (report_due_) write_report();
  const double timer = next_timer();
  if (timer < 0) {
    glfwWaitEvents();
  } else {
    glfwWaitEventsTimeout(timer);
  }
}

bool App::take_outcome() {
  Runner::Outcome outcome;
  if (!runner_->poll(outcome)) return false;
  if (outcome.preview_of > 0 || outcome.layers_of > 0) {
    // Pins and settings wait for the whole.
    if (state_.generating) return false;
    const ViewSettings& view = outcome.experiment.view;
    const bool seen = view.id == "grid" || view.layer < outcome.trace->config->layers;
    if (outcome.layers_of > 0 && !seen) return false;
    if (!state_.is_part()) before_preview_ = state_.trace;
    state_.trace = outcome.trace;
    state_.findings = outcome.findings;
    state_.shown = outcome.experiment;
    state_.preview_of = outcome.preview_of;
    state_.layers_of = outcome.layers_of;
    state_.error.clear();
    report_due_ = true;
    return true;
  }
  const bool first = state_.fresh && *state_.fresh == state_.experiment &&
                     same_run(outcome.experiment, state_.experiment);
  state_.fresh.reset();
  if (outcome.trace != nullptr) {
    const std::shared_ptr<const Trace> before =
        !state_.is_part() ? state_.trace : std::exchange(before_preview_, nullptr);
    if (state_.text.changed && before != nullptr) {
      state_.keep_pins(*before, *outcome.trace);
      state_.text.changed = !same_run(outcome.experiment, state_.experiment);
    }
    state_.trace = outcome.trace;
    state_.findings = outcome.findings;
    state_.shown = outcome.experiment;
    state_.preview_of = state_.layers_of = 0;
    state_.error.clear();
    state_.keep_view_inside();
    settle_view(state_);
    if (state_.generating) go_on(state_);
    if (first) open_striking(state_);
  } else {
    state_.error = outcome.error;
    state_.generating = false;
  }
  report_due_ = true;
  return true;
}

void App::run() {
  settle_ = kSettleFrames;
  try {
    while (!glfwWindowShouldClose(platform_.window())) {
      wait();
      turn();
    }
  } catch (const std::exception& e) {
    atlas_.Locked = false;  // a frame that was begun is not finished
    keep_safe(e.what());
  }
  close();
}

void App::turn() {
  state_.seconds = glfwGetTime();
  const bool was_busy = state_.busy_seconds > 0;
  state_.busy_seconds = runner_->busy() ? std::max(runner_->busy_seconds(), 1e-3) : 0;
  state_.progress = runner_->progress();
  const bool busy_changed = was_busy != (state_.busy_seconds > 0);
  const bool hint_due = ui_.hinting.wait > 0 && state_.seconds >= drawn_at_ + ui_.hinting.wait;
  if (hint_due) settle_ = kSettleFrames;  // a window is hidden in its first frame
  const bool notice_over =
      std::any_of(state_.notices.begin(), state_.notices.end(),
                  [&](const Notice& n) { return !n.error && state_.seconds > n.until; });
  if (finding_jobs_.update(state_)) settle_ = kSettleFrames;
  if (panels_.steps->update(state_)) settle_ = kSettleFrames;
  if (take_outcome() || input_.pending() || notice_over) settle_ = kSettleFrames;
  if (fade_.on()) settle_ = std::max(settle_, 1);
  if (panels_.picture.stale()) settle_ = std::max(settle_, 1);
  if (state_.busy_seconds > kBusyShown) settle_ = std::max(settle_, 1);
  if (state_.view.play.on || state_.exporting.job != nullptr) settle_ = std::max(settle_, 1);
  if (state_.exporting.job != nullptr && state_.exporting.job->over()) settle_ = kSettleFrames;
  if (take_measured(state_.cost)) settle_ = kSettleFrames;
  if (take_calibrated(state_.calibration)) settle_ = kSettleFrames;
  if (take_surprises(state_)) settle_ = kSettleFrames;
  if (take_opened(state_)) settle_ = kSettleFrames;
  if (state_.surprises.job != nullptr || is_opening(state_)) settle_ = std::max(settle_, 1);
  report_due_ |= busy_changed;
  const bool draws = settle_ > 0;
  if (draws) {
    --settle_;
    advance_play(state_);
    frame();
    after_frame();
  }
  update_speaker();
  draw_speaker(draws);
  if (!state_.restored.empty()) autosave_.replace(std::exchange(state_.restored, {}));
  const std::string problem = autosave_.keep(state_.own_experiment(), state_.seconds);
  if (!problem.empty()) {
    state_.complain(problem);
    settle_ = kSettleFrames;
  }
}

// From one picture to the next.
void App::update_fade() {
  Before& before = panels_.picture.before;
  const PixelBox& box = panels_.picture.box;
  const bool allowed = may_fade(state_) && box.width > 0;
  if (fade_.begins(turned_to(state_), state_.seconds, allowed)) {
    const ImVec2 scale = ImGui::GetIO().DisplayFramebufferScale;
    const auto pixels = [](int length, float by) {
      return static_cast<int>(static_cast<float>(length) * by);
    };
    before.box = box;
    before.texture = screen_.keep({pixels(box.x, scale.x), pixels(box.y, scale.y),
                                   pixels(box.width, scale.x), pixels(box.height, scale.y)});
  }
  if (before.share > 0 && screen_size_ != platform_.place()) fade_.end();
  screen_size_ = platform_.place();
  const bool current = state_.trace != nullptr && same_run(state_.shown, state_.experiment);
  before.share = static_cast<float>(fade_.share(state_.seconds, current));
}

void App::update_scale() {
  const double chosen =
      state_.settings.scale > 0 ? state_.settings.scale : platform_.monitor_scale();
  const double scale =
      state_.presenting ? stage_scale(platform_.place().height, state_.stage_zoom) : chosen;
  const Look& look = state_.settings.dark ? Look::dark_one() : Look::light();
  const bool first = ui_.look == nullptr;
  const bool baked_anew = scale != ui_.fonts.scale() || ui_.fonts.lacking() ||
                          state_.presenting != ui_.fonts.has_lecture();
  if (baked_anew) {
    ui_.fonts.load(atlas_, scale, state_.presenting);
#if IMGUI_VERSION_NUM < 19200  // later the backend follows the atlas by itself
    if (!first) {              // it makes the first texture with its first frame
      ImGui_ImplOpenGL3_DestroyFontsTexture();
      ImGui_ImplOpenGL3_CreateFontsTexture();
    }
#endif
    screen_.forget();
    panels_.picture.key = {};
  }
  if (first && !ui_.fonts.notice().empty()) state_.say(ui_.fonts.notice());
  ui_.scale = state_.scale = scale;
  if (baked_anew || ui_.look != &look) {
    ui_.look = &look;
    apply(look, scale);
  }
}

void App::frame() {
  lay_out_frame();
  if (ui_.fonts.lacking()) {  // the next frame has what this one cannot write
    settle_ = kSettleFrames;
  } else {
    try_to_show_frame();
  }
  if (const std::string problem = painter_.end_frame(); !problem.empty()) state_.complain(problem);
  ++frames_;
  report_due_ = true;
}

void App::lay_out_frame() {
  update_fade();
  update_scale();
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ui_.strokes = input_.feed();
  ui_.hinting.wait = -1;
  drawn_at_ = glfwGetTime();
  ImGui::NewFrame();
  ui_.report.begin_frame();
  state_.text.drawn = false;
  for (const std::string& path : input_.take_dropped_files()) open_path(state_, path);
  if (state_.experiment.view.id != view_shown_) state_.keep_view_inside();  // as it begins
  view_shown_ = state_.experiment.view.id;
  painter_.begin_frame();
  ImGui::PushFont(ui_.fonts.body);
  draw_main_window(ui_, state_, panels_, painter_);
  ImGui::PopFont();
  state_.text.focused &= state_.text.drawn;
  const bool typing = ImGui::GetIO().WantTextInput || state_.text.focused;
  // An open dialog has the keys to itself.
  if (!state_.dialog_open()) run_shortcuts(state_, ui_.strokes, typing);
  // At once: the frame may take long to be drawn where the run has all processors.
  if (std::exchange(state_.wishes.cancel_run, false)) cancel_run();
  ImGui::Render();
  if (is_dimming()) settle_ = std::max(settle_, 1);
}

// A frame that could not be drawn, for want of memory, is drawn again whole. A context that is lost
// takes its objects along, and with them the window's contents.
void App::try_to_show_frame() {
  try {
    show_frame();
    failed_frames_ = 0;
  } catch (const WorkError& e) {
    if (++failed_frames_ > kMostFailedFrames) throw;
    screen_.forget();
    state_.complain(e.what());
    settle_ = kSettleFrames;
  }
}

void App::keep_safe(const char* reason) {
  const std::string kept = autosave_.leave(state_.own_experiment());
  throw WorkError(std::string(reason) + "; the window cannot go on. " +
                  (kept.empty() ? "The session is kept: the next start offers it" : kept));
}

void App::show_frame() {
  ImDrawData& data = *ImGui::GetDrawData();
  const ImVec4& ground = ui_.look->panel;
  const bool compares = ui_.report.on() && settle_ == 0;
  const Image anew = compares ? screen_.drawn_anew(data, ground) : Image();
  screen_.show(data, ground);
  if (ui_.report.on()) {
    Image picture = screen_.picture();
    if (compares) stale_pixels_ += differing_pixels(picture, anew);
    ui_.report.screenshot(std::move(picture));
  }
  glfwSwapBuffers(platform_.window());
}

void App::cancel_run() {
  runner_->cancel();
  state_.generating = false;
  panels_.picture.maps()->cancel();
  state_.say(state_.busy_seconds > 0 ? "The run was cancelled; change something to run again."
                                     : "The map stays as it is; move it to go on.");
}

void App::after_frame() {
  const Wishes wishes = std::exchange(state_.wishes, {});
  if (wishes.clipboard) glfwSetClipboardString(platform_.window(), wishes.clipboard->c_str());
  if (wishes.full_screen) platform_.toggle_full_screen();
  if (wishes.swap_screens) swap_screens();
  update_stage();
  if (!wishes.cancel_finding.empty()) finding_jobs_.cancel(wishes.cancel_finding);
  if (wishes.close) glfwSetWindowShouldClose(platform_.window(), GLFW_TRUE);
  follow_text(state_);
  const bool in_stroke = state_.view.held_handle >= 0 && !state_.view.stroke.empty();
  if (!in_stroke) state_.history.record(state_.experiment, state_.seconds);
  // A view that reads what the last request did not work out needs another one, too.
  const bool lacks_findings = has_requested_ && reads_more(state_.experiment, requested_);
  if (const double memory = state_.settings.memory; memory != memory_) {
    memory_ = memory;
    set_memory_budget(memory > 0 ? static_cast<std::size_t>(memory) << 20 : usual_memory_);
    has_requested_ &= state_.error.empty();  // what was refused may fit now
  }
  if (!has_requested_ || lacks_findings || !same_run(requested_, state_.experiment)) request_run();
  const std::string title =
      (state_.session.empty() ? "" : state_.session.filename().string() + " – ") + "attnscope";
  glfwSetWindowTitle(platform_.window(), title.c_str());
}

void App::request_run() {
  requested_ = state_.experiment;
  has_requested_ = true;
  if (!state_.experiment.has_input()) {
    runner_->cancel();
    state_.trace = nullptr;
    state_.findings = {};
    state_.error.clear();
    settle_ = kSettleFrames;
    return;
  }
  runner_->request(state_.experiment, findings_read(state_.experiment));
}

void App::close() {
  try {
    platform_.remember(state_.settings);
    std::filesystem::create_directories(folder_);
    if (!(state_.settings == saved_)) save_settings(folder_ / "window.json", state_.settings);
    save_session(folder_ / "last-session.json", state_.own_experiment());
    autosave_.finish();
  } catch (const std::exception& e) {
    // The window is gone; the autosave stays and is offered at the next start.
    std::fprintf(stderr, "attnscope: %s\n", e.what());
  }
}

bool begins_tour(const WindowOptions& options, bool tour_done) {
  const bool plain = !options.open && options.lesson.empty() && !options.present;
  return options.tour.value_or(plain && !tour_done);
}

void run_window(const WindowOptions& options) {
  LastResort last_resort;  // outlives the window
  App app(options);
  if (options.measure) return app.measure(options.asks_for_something());
  app.run();
  last_resort.begin(app.unwritten());
}

}  // namespace attnscope::window
