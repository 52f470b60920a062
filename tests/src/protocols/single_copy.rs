//! A register without replication: one server holds the only copy.

use super::{Message, RegisterModel, Value, register_model};
use stateright::actor::register::RegisterMsg;
use stateright::actor::{Actor, Id, Network, Out};
use std::borrow::Cow;

/// The server with the copy.
#[derive(Clone, Copy, Debug)]
pub struct SingleCopy;

impl Actor for SingleCopy {
    type Msg = Message<()>;
    type State = Value;
    type Timer = ();

    fn on_start(&self, _: Id, _: &mut Out<Self>) -> Value {
        Value::default()
    }

    fn on_msg(&self, _: Id, copy: &mut Cow<'_, Value>, from: Id, message: Self::Msg, out: &mut Out<Self>) {
        match message {
            RegisterMsg::Put(request, value) => {
                *copy.to_mut() = value;
                out.send(from, RegisterMsg::PutOk(request));
            }
            RegisterMsg::Get(request) => out.send(from, RegisterMsg::GetOk(request, **copy)),
            RegisterMsg::PutOk(_) | RegisterMsg::GetOk(..) | RegisterMsg::Internal(()) => {}
        }
    }
}

/// One server and a number of clients.
#[must_use]
pub fn model(clients: usize) -> RegisterModel<SingleCopy> {
    register_model(vec![SingleCopy], clients, Network::new_unordered_nonduplicating([]))
}
