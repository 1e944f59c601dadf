//! What a viewer may see: the gate. `Visible<T>` can be made here only, so a path that forgets the gate
//! does not compile. Never how a subject is loaded, never how it is shown.

pub mod model;
pub mod rules;
