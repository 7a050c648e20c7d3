#include "app/window/edited_session.h"

#include <gtest/gtest.h>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

TEST(EditedSession, SnapshotChangesOnlyWithValue) {
  EditedSession session((Session()));
  const SharedSession first = session.snapshot();
  session.edit().view.layer = 0;  // the same value
  EXPECT_EQ(session.snapshot(), first);
  session.edit().view.layer = 1;
  const SharedSession second = session.snapshot();
  EXPECT_NE(second, first);
  EXPECT_EQ(second->view.layer, 1);
  EXPECT_EQ(first->view.layer, 0);
}

TEST(EditedSession, ReferenceMayBeUsedUntilEditsEnd) {
  EditedSession session((Session()));
  Session& edited = session.edit();
  const SharedSession snapshot = session.snapshot();
  edited.run.text = "later";
  EXPECT_EQ(session.snapshot()->run.text, "later");
  EXPECT_EQ(snapshot->run.text, "");
  session.end_edits();
  EXPECT_EQ(session.snapshot()->run.text, "later");
}

TEST(EditedSession, AdoptsSnapshot) {
  EditedSession session((Session()));
  Session restored;
  restored.run.text = "undone";
  const SharedSession snapshot = share(restored);
  session = snapshot;
  EXPECT_EQ(session.snapshot(), snapshot);
  EXPECT_EQ(session->run.text, "undone");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
