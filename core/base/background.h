// Low priority of long work that runs behind an interactive window.
#pragma once

namespace attnscope {

// Lowers the priority of this thread for the rest of its life. Its parallel loops use threads of
// their own, which have the same low priority. Without effect on priorities outside Linux.
void work_in_background();

}  // namespace attnscope
