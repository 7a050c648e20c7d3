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
#include "app/window/error_text.h"
#include "app/window/files.h"
#include "app/window/font_texture.h"
#include "app/window/jobs/generation.h"
#include "app/window/jobs/model_fetch.h"
#include "app/window/jobs/play.h"
#include "app/window/jobs/task_kinds.h"
#include "app/window/model_selection.h"
#include "app/window/salient_pairs.h"
#include "app/window/shutdown_watchdog.h"
#include "app/window/variant_selection.h"
#include "app/window/widgets/text_field.h"
#include "core/base/error.h"
#include "core/text/terminal_text.h"
#include "core/view/session_file.h"

namespace attnscope::window {
namespace {

constexpr double kBusyTick = 0.1;       // seconds between frames of the busy indicator
constexpr int kMaxFailedFrames = 3;     // consecutive failures
constexpr double kPlayTick = 1.0 / 60;  // seconds between frames of an animation

Settings apply_options(Settings settings, const WindowOptions& options) {
  if (options.width > 0) {
    settings.width = options.width;
    settings.height = options.height;
    settings.maximised = false;
  }
  if (options.scale > 0) settings.scale = options.scale;
  if (options.dark) settings.dark = *options.dark;
  if (options.simple) settings.simple = *options.simple;
  return settings;
}

// True if the view of `current` reads a run's finding that the view of `requested` does not read.
bool reads_more_findings(const Session& current, const Session& requested) {
  return std::ranges::any_of(view(current.view.id).findings, [&](const ViewFinding& needed) {
    return finding(needed.id).with_run && !view(requested.view.id).reads(needed.id) &&
           needed.id != Findings::reference.id;  // every run with B provides the reference
  });
}

}  // namespace

App::App(const WindowOptions& options)
    : options_(options),
      folder_(configuration_folder()),
      saved_(),
      autosave_(folder_),
      platform_([&] {
        use_one_arena();
        LoadedSettings loaded = load_settings(folder_ / "window.json");
        saved_ = loaded.settings;
        state_.settings = apply_options(loaded.settings, options);
        if (!loaded.notice.empty()) state_.notify(loaded.notice);
        start_loading_fonts();
        return state_.settings;
      }()),
      input_(platform_.window()),
      imgui_(platform_.window(), loaded_fonts()),
      painter_(platform_.can_compute()),
      screen_(Painter::drawing) {
  ui_.fonts.track_missing_glyphs();
  ui_.report = Report(options.report);
  state_.gpu = platform_.describe();
  panels_.model.models = model_groups();
  panels_.picture.live = live_findings([] { glfwPostEmptyEvent(); });
  start_session(options);
  state_.dialogs.exporting.backends = gpu_backends([this] { return platform_.compute_context(); },
                                                   calibration_file(), backend_stop_);
  runner_ =
      std::make_unique<Runner>(state_.dialogs.exporting.backends, [] { glfwPostEmptyEvent(); });
  request_run();
}

// Requests all stops before waiting for any thread. Tasks end and owners of textures are destroyed
// while the context still exists.
App::~App() {
  backend_stop_.request();
  runner_->cancel();
  cancel_tasks(state_);
  speaker_.reset();
  runner_.reset();
  panels_ = {};
  trace_before_preview_.reset();
  state_ = State();
}

// Rasterises glyphs while the window is created; both take about the same time. The monitor's scale
// is not known yet: if it is not 1, update_scale() rasterises the glyphs again.
void App::start_loading_fonts() {
#if IMGUI_VERSION_NUM < 19200
  const double scale = state_.settings.scale > 0 ? state_.settings.scale : 1;
  font_loading_ = std::async(std::launch::async, [this, scale] { ui_.fonts.load(atlas_, scale); });
#endif
}

ImFontAtlas& App::loaded_fonts() {
  if (font_loading_.valid()) font_loading_.get();
  return atlas_;
}

void App::start_session(const WindowOptions& options) {
  bool is_new_session = false;
  state_.files.abandoned = autosave_.abandoned_sessions();
  if (!samples().empty()) use_sample(state_.session.edit().run, samples().front());
  const std::filesystem::path last_session = folder_ / "last-session.json";
  std::error_code ignored;
  if (options.session) {
    state_.session = load_session(*options.session);
    state_.files.session = *options.session;
    state_.settings.add_recent(
        std::filesystem::absolute(*options.session).lexically_normal().string());
  } else if (std::filesystem::exists(last_session, ignored)) {
    try {
      state_.session = load_session(last_session);
    } catch (const std::exception&) {
      state_.notify("The last session could not be read; this is a new session.");
    }
  } else {
    is_new_session = !options.has_content();
    if (is_new_session) state_.session.edit().run = start_run();
  }
  if (options.model) {
    state_.edit() = with_model(*state_.session, *options.model).viewed;
  }
  if (options.text) state_.edit() = with_text(*options.text, *state_.session);
  if (options.input) state_.session = with_opened_file(*options.input, *state_.session);
  if (options.target) {
    state_.session.edit().run.target = *options.target;
    state_.session.edit().run.target_ids.clear();
  }
  const bool opens_lesson = options.open && is_lesson(*options.open);
  if (options.open && !opens_lesson) {
    state_.session = with_opened_file(*options.open, *state_.session);
    state_.settings.add_recent(
        std::filesystem::absolute(*options.open).lexically_normal().string());
    if (!options.tokens.empty()) state_.session.edit().run.tensors.tokens = options.tokens;
    if (!options.key_tokens.empty())
      state_.session.edit().run.tensors.key_tokens = options.key_tokens;
  }
  if (options.apply_view) options.apply_view(state_.session.edit().view);
  state_.selection.has_checked_view = false;
  if (starts_tour(options, state_.settings.tour_done)) start_tour(state_);
  if (is_new_session) state_.files.new_session = state_.session.snapshot();
  state_.history = History(state_.session.snapshot());
  state_.text.edit.assign(state_.session->run.text);
  if (!options.lesson.empty()) start_lesson(state_, find_lesson(options.lesson));
  if (opens_lesson) start_lesson(state_, load_lesson(*options.open));
  if (options.present) set_presenting(state_, true);
}

double App::next_timer() const {
  double next = -1;
  const auto wait_at_most = [&next](double seconds) {
    seconds = std::max(seconds, 0.001);
    next = next < 0 ? seconds : std::min(next, seconds);
  };
  if (runner_->busy()) wait_at_most(std::max(kBusyTick, kLongRunSeconds - runner_->busy_seconds()));
  if (state_.view.play.is_on) wait_at_most(state_.view.play.seconds + kPlayTick - glfwGetTime());
  if (has_task_status(state_)) wait_at_most(kBusyTick);
  if (speaker_ != nullptr)
    wait_at_most(speaker_drawn_at_ + 1 - (state_.seconds - state_.lesson.clock_start));
  if (ui_.hint_timer.wait > 0) wait_at_most(frame_start_ + ui_.hint_timer.wait - glfwGetTime());
  if (const auto due = autosave_.due()) wait_at_most(*due - glfwGetTime());
  if (memory_trim_.due() >= 0) wait_at_most(memory_trim_.due() - glfwGetTime());
  if (const double due = tour_deadline(state_); due >= 0) wait_at_most(due - glfwGetTime());
  for (const Notice& notice : state_.notices) {
    if (!notice.error && !notice.until_act) wait_at_most(notice.until - glfwGetTime());
  }
  return next;
}

void App::wait() {
  const bool has_speaker_input = speaker_ != nullptr && speaker_->pending();
  if (frames_left_ > 0 || input_.pending() || fade_.is_active() || has_speaker_input) {
    glfwPollEvents();
    return;
  }
  if (is_report_due_) write_report();
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
  if (outcome.preview_of_tokens > 0 || outcome.preview_of_layers > 0 || outcome.awaits_findings) {
    // Pins and settings adapt only to the complete trace.
    if (state_.run.is_generating) return false;
    const ViewSettings& view = outcome.session->view;
    const bool is_visible = view.id == "grid" || view.layer < outcome.trace->config->layers;
    if (outcome.preview_of_layers > 0 && !is_visible) return false;
    if (!state_.run.is_preview()) trace_before_preview_ = state_.run.trace;
    state_.run.trace = outcome.trace;
    state_.run.findings = outcome.findings;
    state_.run.session = outcome.session;
    state_.run.preview_of_tokens = outcome.preview_of_tokens;
    state_.run.preview_of_layers = outcome.preview_of_layers;
    state_.run.awaits_findings = outcome.awaits_findings;
    state_.run.clear_error();
    is_report_due_ = true;
    return true;
  }
  const bool opens_new_session =
      state_.files.new_session != nullptr &&
      same_session(state_.files.new_session, state_.session.snapshot()) &&
      same_run(*outcome.session, *state_.session);
  state_.files.new_session.reset();
  if (outcome.trace != nullptr) {
    const std::shared_ptr<const Trace> previous_trace =
        !state_.run.is_preview() ? state_.run.trace : std::exchange(trace_before_preview_, nullptr);
    if (state_.text.is_edited && previous_trace != nullptr) {
      state_.move_pins(*previous_trace, *outcome.trace);
      state_.text.is_edited = !same_run(*outcome.session, *state_.session);
    }
    state_.run.trace = outcome.trace;
    state_.run.findings = outcome.findings;
    state_.run.session = outcome.session;
    state_.run.preview_of_tokens = state_.run.preview_of_layers = 0;
    state_.run.awaits_findings = false;
    state_.run.clear_error();
    state_.clamp_view();
    replace_empty_view(state_);
    if (state_.run.is_generating) generate_token(state_);
    if (opens_new_session) open_on_salient_pair(state_);
  } else {
    state_.run.error = error_text(outcome.error);
    state_.run.offer = std::move(outcome.offer);
    state_.run.is_generating = false;
  }
  is_report_due_ = true;
  return true;
}

void App::run() {
  frames_left_ = kSettleFrames;
  try {
    while (!glfwWindowShouldClose(platform_.window())) {
      wait();
      run_once();
    }
  } catch (const std::exception& e) {
    atlas_.Locked = false;  // an exception interrupted a frame
    save_and_throw(error_text(e));
  }
  close();
}

void App::run_once() {
  state_.seconds = glfwGetTime();
  const bool was_busy = state_.run.busy_seconds > 0;
  state_.run.busy_seconds = runner_->busy() ? std::max(runner_->busy_seconds(), 1e-3) : 0;
  state_.run.progress = runner_->progress();
  const bool has_busy_changed = was_busy != (state_.run.busy_seconds > 0);
  const bool is_hint_due =
      ui_.hint_timer.wait > 0 && state_.seconds >= frame_start_ + ui_.hint_timer.wait;
  if (is_hint_due) frames_left_ = kSettleFrames;  // ImGui hides a new tooltip in its first frame
  const bool has_expired_notice = std::ranges::any_of(
      state_.notices, [&](const Notice& n) { return n.has_expired(state_.seconds); });
  if (update_tasks(state_) || update_tour(state_, ImGui::IsMouseDown(ImGuiMouseButton_Left)))
    frames_left_ = kSettleFrames;
  panels_.steps->update(state_.step_pictures);
  const bool has_outcome = take_outcome();
  if (was_busy || has_outcome || has_task_status(state_)) memory_trim_.request(state_.seconds);
  memory_trim_.trim_if_due(state_.seconds);
  if (has_outcome || input_.pending() || has_expired_notice) frames_left_ = kSettleFrames;
  if (fade_.is_active()) frames_left_ = std::max(frames_left_, 1);
  if (panels_.picture.is_stale()) frames_left_ = std::max(frames_left_, 1);
  if (state_.run.busy_seconds > kLongRunSeconds) frames_left_ = std::max(frames_left_, 1);
  if (state_.view.play.is_on || has_task_status(state_)) frames_left_ = std::max(frames_left_, 1);
  is_report_due_ |= has_busy_changed;
  const bool draws = frames_left_ > 0;
  if (draws) {
    --frames_left_;
    advance_play(state_);
    frame();
    after_frame();
  }
  update_speaker();
  draw_speaker(draws);
  if (!state_.files.restored.empty()) autosave_.replace(std::exchange(state_.files.restored, {}));
  const std::string problem = autosave_.save_if_due(state_.user_session(), state_.seconds);
  if (!problem.empty()) {
    state_.report_error(problem);
    frames_left_ = kSettleFrames;
  }
}

void App::update_fade() {
  PreviousPicture& previous = panels_.picture.previous;
  const PixelBox& box = panels_.picture.box;
  const bool is_allowed = may_fade(state_) && box.width > 0;
  if (fade_.start_if_navigated(navigation_state(state_), state_.seconds, is_allowed)) {
    const ImVec2 scale = ImGui::GetIO().DisplayFramebufferScale;
    const auto to_pixels = [](int length, float factor) {
      return static_cast<int>(static_cast<float>(length) * factor);
    };
    previous.box = box;
    previous.texture =
        screen_.copy_region({to_pixels(box.x, scale.x), to_pixels(box.y, scale.y),
                             to_pixels(box.width, scale.x), to_pixels(box.height, scale.y)});
  }
  if (previous.opacity > 0 && window_box_ != platform_.window_box()) fade_.end();
  window_box_ = platform_.window_box();
  const bool is_current = state_.run.trace != nullptr && state_.is_current();
  previous.opacity = static_cast<float>(fade_.opacity(state_.seconds, is_current));
}

void App::update_scale() {
  const double window_scale =
      state_.settings.scale > 0 ? state_.settings.scale : platform_.monitor_scale();
  const double scale = state_.presentation.is_on ? presentation_scale(platform_.window_box().height,
                                                                      state_.presentation.zoom)
                                                 : window_scale;
  const Look& look = state_.settings.dark ? Look::dark_look() : Look::light();
  const bool is_first_frame = ui_.look == nullptr;
  const bool fonts_changed = scale != ui_.fonts.scale() || ui_.fonts.lacks_glyphs() ||
                             state_.presentation.is_on != ui_.fonts.has_lecture();
  if (fonts_changed) {
    ui_.fonts.load(atlas_, scale, state_.presentation.is_on);
#if IMGUI_VERSION_NUM < 19200  // later versions update the texture themselves
    if (!is_first_frame) {     // the first frame creates the first texture
      ImGui_ImplOpenGL3_DestroyFontsTexture();
      ImGui_ImplOpenGL3_CreateFontsTexture();
    }
#endif
    screen_.invalidate();
    panels_.picture.key = {};
  }
  if (is_first_frame && !ui_.fonts.notice().empty()) state_.notify(ui_.fonts.notice());
  ui_.scale = state_.scale = scale;
  if (fonts_changed || ui_.look != &look) {
    ui_.look = &look;
    apply(look, scale);
  }
}

void App::frame() {
  lay_out_frame();
  if (ui_.fonts.rasterise_missing(*ImGui::GetDrawData())) {  // the next frame has the glyphs
    update_font_texture(atlas_, ui_.fonts.shaped().take_changes());
    frames_left_ = kSettleFrames;
  } else {
    try_to_show_frame();
  }
  if (const std::string problem = painter_.end_frame(); !problem.empty())
    state_.report_error(problem);
  ++frames_;
  is_report_due_ = true;
}

void App::lay_out_frame() {
  update_fade();
  update_scale();
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ui_.strokes = input_.feed();
  ui_.hint_timer.wait = -1;
  frame_start_ = glfwGetTime();
  ImGui::NewFrame();
  ui_.report.begin_frame();
  ui_.space_markers = state_.session->view.space_markers;
  ui_.is_simple = state_.settings.simple;
  state_.text.begin_frame();
  begin_fields(ui_);
  const bool was_in_field = ui_.fields.has_keyboard();  // Return and Escape leave the field
  for (const std::string& path : input_.take_dropped_files()) open_path(state_, path);
  const bool has_click =
      ImGui::IsMouseClicked(ImGuiMouseButton_Left) || ImGui::IsMouseClicked(ImGuiMouseButton_Right);
  if (has_click || !ui_.strokes.empty()) std::erase_if(state_.notices, &Notice::until_act);
  if (state_.session->view.id != last_view_) state_.clamp_view();  // the view has just opened
  last_view_ = state_.session->view.id;
  read_model_files(state_, panels_.model);
  painter_.begin_frame();
  ImGui::PushFont(ui_.fonts.body);
  draw_main_window(ui_, state_, panels_, painter_);
  ImGui::PopFont();
  state_.text.end_frame();
  end_fields(ui_);
  const bool is_typing = was_in_field || ui_.fields.has_keyboard() || state_.text.has_keyboard();
  // An open dialog receives all keys.
  if (!state_.dialogs.open()) run_shortcuts(state_, ui_.strokes, is_typing);
  // Cancels before drawing, which can be slow while the run occupies all processors.
  if (std::exchange(state_.requests.cancel_run, false)) cancel_run();
  ImGui::Render();
  if (is_dimming()) frames_left_ = std::max(frames_left_, 1);
}

// Redraws the next frame in full after an error, such as a lack of memory. Gives up after several
// failed frames: a lost context never recovers.
void App::try_to_show_frame() {
  try {
    show_frame();
    failed_frames_ = 0;
  } catch (const WorkError& e) {
    if (++failed_frames_ > kMaxFailedFrames) throw;
    screen_.invalidate();
    state_.report_error(error_text(e));
    frames_left_ = kSettleFrames;
  }
}

void App::save_and_throw(const std::string& reason) {
  const std::string problem = autosave_.save_now(*state_.user_session());
  throw WorkError(
      reason + "; the window has to close. " +
      (problem.empty() ? "The session is saved: the next start offers to restore it" : problem));
}

void App::show_frame() {
  ImDrawData& data = *ImGui::GetDrawData();
  const ImVec4& background = ui_.look->panel;
  const bool checks_pixels = ui_.report.is_on() && frames_left_ == 0;
  const Image expected = checks_pixels ? screen_.draw_from_scratch(data, background) : Image();
  screen_.show(data, background);
  if (ui_.report.is_on()) {
    Image picture = screen_.picture();
    if (checks_pixels) stale_pixels_ += count_differing_pixels(picture, expected);
    ui_.report.screenshot(std::move(picture));
  }
  glfwSwapBuffers(platform_.window());
}

void App::cancel_run() {
  runner_->cancel();
  state_.run.is_generating = false;
  panels_.picture.maps()->cancel();
  state_.notify(state_.run.busy_seconds > 0
                    ? "The run was cancelled; change something to run again."
                    : "The map stays incomplete; move it to continue.");
}

void App::after_frame() {
  const PendingRequests requests = std::exchange(state_.requests, {});
  if (requests.clipboard) glfwSetClipboardString(platform_.window(), requests.clipboard->c_str());
  if (requests.full_screen) platform_.toggle_full_screen();
  if (requests.swap_screens) swap_screens();
  update_presentation();
  if (requests.close) glfwSetWindowShouldClose(platform_.window(), GLFW_TRUE);
  adapt_parameters_to_text(state_);
  const bool is_in_stroke = state_.view.held_handle >= 0 && !state_.view.stroke.empty();
  if (!is_in_stroke) state_.history.record(state_.session.snapshot(), state_.seconds);
  if (const double memory = state_.settings.memory; memory != applied_memory_) {
    applied_memory_ = memory;
    set_memory_budget(memory > 0 ? static_cast<std::size_t>(memory) << 20 : default_memory_);
    if (!state_.run.error.empty()) requested_session_ = nullptr;  // the run may fit into memory now
  }
  if (publications_ != model_store()->publications()) requested_session_ = nullptr;
  if (!waits_for_run() && needs_run()) request_run();
  const std::string title =
      (state_.files.session.empty() ? "" : state_.files.session.filename().string() + " – ") +
      "attnscope";
  glfwSetWindowTitle(platform_.window(), title.c_str());
  state_.session.end_edits();
}

// During a drag, a run completes before the next one starts, so that the picture follows the drag:
// if every change cancelled the previous run, no run would complete. After the drag, a change
// cancels the run.
bool App::waits_for_run() const {
  constexpr double kMaxSeconds = 10;
  return ImGui::IsMouseDown(ImGuiMouseButton_Left) && runner_->busy() &&
         runner_->busy_seconds() < kMaxSeconds;
}

bool App::needs_run() {
  if (requested_session_ == nullptr) return true;
  const SharedSession& current = state_.session.snapshot();
  if (std::exchange(compared_session_, current) == current) return false;
  // Another run is also needed if the view reads a finding that the last request did not include.
  return !same_run(*requested_session_, *current) ||
         reads_more_findings(*current, *requested_session_);
}

void App::request_run() {
  publications_ = model_store()->publications();
  requested_session_ = compared_session_ = state_.session.snapshot();
  if (!state_.session->run.has_input()) {
    runner_->cancel();
    state_.run.trace = nullptr;
    state_.run.findings = {};
    state_.run.clear_error();
    frames_left_ = kSettleFrames;
    return;
  }
  runner_->request(requested_session_, required_findings(*requested_session_));
}

void App::close() {
  try {
    platform_.store_window_box(state_.settings);
    std::filesystem::create_directories(folder_);
    if (!(state_.settings == saved_)) save_settings(folder_ / "window.json", state_.settings);
    save_session(folder_ / "last-session.json", *state_.user_session());
    autosave_.finish();
  } catch (const std::exception& e) {
    // The window no longer exists; the autosave remains and is offered at the next start.
    std::fprintf(stderr, "attnscope: %s\n", terminal_line(e.what()).c_str());
  }
}

bool starts_tour(const WindowOptions& options, bool tour_done) {
  return options.tour.value_or(!options.has_content() && !options.present && !tour_done);
}

void run_window(const WindowOptions& options) {
  ShutdownWatchdog watchdog;  // outlives the window
  App app(options);
  if (options.measure) return app.measure(options.has_content());
  app.run();
  watchdog.begin(unfinished_file(app.state()));
}

}  // namespace attnscope::window
