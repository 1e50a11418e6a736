//! The engine of replay: executes an I/O [`Program`] on scratch files of one directory and measures each operation.
//!
//! A program is streams of operations with the time to think before each, on numbered files and open file descriptions. It knows no
//! trail and no model: whoever has calls to issue makes a program of them. The whole program is checked before the first file is made
//! ([`Plan`]), files are made beneath one directory that nothing else may lie in ([`Sandbox`]), one thread executes each stream
//! ([`execute`]), they wait for each other at barriers and for events ([`Action`]), and results are compared with those expected ([`Outcome`]).

mod content;
mod engine;
mod meeting;
mod outcome;
mod pacing;
mod plan;
mod program;
mod sandbox;
mod waiting;

pub use content::{Checked, Content};
pub use engine::{Companion, LONGEST_LOCK, Think, execute, execute_beside};
pub use outcome::{OperationKind, Outcome, Times};
pub use plan::{DIRECT_BLOCK, MAX_BUFFERS, MAX_NAME_PART, MAX_NAME_PARTS, MAX_TRANSFER, Plan, PlanError};
pub use program::{
    Action, Buffers, Expected, Interface, OpenMode, OpenNumber, Operation, Program, ScratchFile, Stream,
};
pub use sandbox::{Cache, MANIFEST, Sandbox, SandboxError};
