//! stub until merge
use crate::trace::Reader; use std::io::{self,BufRead};
pub enum Style{Plain,Colour}
pub struct View{pub at:Option<u64>,pub style:Style}
pub fn show<R:BufRead>(_r:Reader<R>,_v:&View,_o:&mut impl io::Write)->io::Result<()>{Ok(())}
