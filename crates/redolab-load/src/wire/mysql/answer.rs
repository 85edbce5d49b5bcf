//! Answers of a server: how many rows were changed, and the first value of what came back.

use std::sync::Arc;

use mysql_common::Value;
use mysql_common::constants::{Command, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    Column, ComStmtExecuteRequestBuilder, CommonOkPacket, OkPacketDeserializer,
    ResultSetTerminator, StmtPacket,
};
use mysql_common::proto::{Binary, MyDeserialize, MySerialize, Text};
use mysql_common::row::{Row, RowDeserializer};
use mysql_common::value::ServerSide;

use super::channel::{CAPABILITIES, Channel, STRANGE};
use crate::wire::statement::Statement;

/// What a table or a query may have in both servers.
const MOST_COLUMNS: u64 = 4_096;
const OK: u8 = 0x00;
const LOCAL_INFILE: u8 = 0xFB;
const END: u8 = 0xFE;

/// What came of a statement, or of several in one text.
#[derive(Default)]
pub(super) struct Told {
    /// Rows changed, of all statements.
    pub(super) changed: u64,
    /// In the first column of the first row, where there is one.
    pub(super) first: Option<Value>,
}

impl Channel {
    /// Ask for a sign of life.
    pub(super) async fn ping(&mut self) -> Result<(), String> {
        self.command(Command::COM_PING, &[]).await?;
        self.answer(false).await.map(drop)
    }

    /// Prepare a statement; returns its number and how many arguments it has.
    pub(super) async fn prepare(&mut self, statement: &str) -> Result<(u32, usize), String> {
        self.command(Command::COM_STMT_PREPARE, statement.as_bytes()).await?;
        let packet = self.receive().await?;
        let prepared = ParseBuf(&packet).parse::<StmtPacket>(());
        let prepared = prepared.map_err(|_| STRANGE.to_owned())?;
        let (arguments, columns) =
            (usize::from(prepared.num_params()), usize::from(prepared.num_columns()));
        for _ in 0..arguments + columns {
            self.receive().await?;
        }
        self.is_answered();
        Ok((prepared.statement_id(), arguments))
    }

    /// Execute a text, of several statements perhaps; every row but the first is dropped.
    pub(super) async fn query(&mut self, text: &str) -> Result<Told, String> {
        self.command(Command::COM_QUERY, text.as_bytes()).await?;
        self.answer(false).await
    }

    /// Execute a prepared statement.
    pub(super) async fn execute(
        &mut self,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<Told, String> {
        if arguments.len() != statement.arguments {
            return Err(format!(
                "the statement has {} placeholders and gets {} arguments",
                statement.arguments,
                arguments.len()
            ));
        }
        let mut packet = Vec::new();
        let request = ComStmtExecuteRequestBuilder::new(statement.number);
        request.build(arguments).0.serialize(&mut packet);
        self.begin(&packet).await?;
        self.answer(true).await
    }

    /// Read the answer to its end; `binary` says how rows are written.
    pub(super) async fn answer(&mut self, binary: bool) -> Result<Told, String> {
        let mut told = Told::default();
        loop {
            let packet = self.receive().await?;
            let more = match packet.first() {
                Some(&OK) => {
                    let ok =
                        parse::<OkPacketDeserializer<'_, CommonOkPacket>>(&packet, CAPABILITIES)?;
                    let ok = ok.into_inner();
                    told.changed += ok.affected_rows();
                    ok.status_flags()
                }
                Some(&LOCAL_INFILE) => {
                    return Err("the server asked for a file of this machine (LOAD DATA LOCAL), \
                                which Redolab never sends"
                        .to_owned());
                }
                _ => self.rows(&packet, binary, &mut told).await?,
            };
            if !more.contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS) {
                self.is_answered();
                return Ok(told);
            }
        }
    }

    /// Read a set of rows whose head is `head`.
    async fn rows(
        &mut self,
        head: &[u8],
        binary: bool,
        told: &mut Told,
    ) -> Result<StatusFlags, String> {
        let count = ParseBuf(head).checked_eat_lenenc_int();
        let count = count.filter(|&count| count <= MOST_COLUMNS).ok_or(STRANGE)?;
        let mut columns = Vec::new();
        for _ in 0..count {
            let packet = self.receive().await?;
            columns.push(parse::<Column>(&packet, ())?);
        }
        let columns: Arc<[Column]> = columns.into();
        loop {
            let packet = self.receive().await?;
            // A row's first value is never that long.
            if packet.first() == Some(&END) {
                let end =
                    parse::<OkPacketDeserializer<'_, ResultSetTerminator>>(&packet, CAPABILITIES);
                return end.map(|end| end.into_inner().status_flags());
            }
            if told.first.is_none() {
                told.first = first(&packet, binary, Arc::clone(&columns))?;
            }
        }
    }
}

/// The first value of a row.
fn first(packet: &[u8], binary: bool, columns: Arc<[Column]>) -> Result<Option<Value>, String> {
    let row: Row = if binary {
        parse::<RowDeserializer<ServerSide, Binary>>(packet, columns)?.into_inner()
    } else {
        parse::<RowDeserializer<ServerSide, Text>>(packet, columns)?.into_inner()
    };
    Ok(row.unwrap_raw().into_iter().next().flatten())
}

fn parse<'a, T: MyDeserialize<'a>>(packet: &'a [u8], context: T::Ctx) -> Result<T, String> {
    ParseBuf(packet).parse(context).map_err(|_| STRANGE.to_owned())
}
