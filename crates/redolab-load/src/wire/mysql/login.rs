//! The log-in: encryption, and the proof of who asks.

use std::collections::HashMap;

use mysql_common::collations::CollationId;
use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest,
};

use super::Target;
use super::answer::STRANGE;
use super::channel::Channel;

/// What this end asks of every server; LOCAL INFILE is not among it.
pub(super) const CAPABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_LONG_PASSWORD
    .union(CapabilityFlags::CLIENT_FOUND_ROWS)
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_PROTOCOL_41)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_CONNECT_ATTRS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);
/// Any version from which on the handshake may say utf8mb4.
const VERSION: (u16, u16, u16) = (10, 6, 0);
const LONGEST_PACKET: u32 = 1 << 24;

const OK: u8 = 0x00;
const MORE: u8 = 0x01;
const SWITCH: u8 = 0xFE;
const KNOWN_TO_SERVER: u8 = 0x03;
const PASSWORD_WANTED: u8 = 0x04;

/// Log in over a connection that was just made; `name` is shown among its attributes.
pub(super) async fn log_in(
    mut channel: Channel,
    target: &Target,
    name: &str,
) -> Result<Channel, String> {
    let packet = channel.receive().await?;
    let greeting = ParseBuf(&packet).parse::<HandshakePacket<'_>>(());
    let greeting = greeting.map_err(|_| STRANGE.to_owned())?;
    let offered = greeting.capabilities();
    // MariaDB leaves the first one out for what it has beyond MySQL.
    if !(offered | CapabilityFlags::CLIENT_LONG_PASSWORD).contains(CAPABILITIES) {
        return Err(format!(
            "the server ({}) does not speak the protocol of MariaDB 10.6, MySQL 8.0 or later",
            greeting.server_version_str()
        ));
    }
    let mut capabilities = CAPABILITIES;
    let offers = offered.contains(CapabilityFlags::CLIENT_SSL);
    let mut is_private = target.unix_socket.is_some();
    if let Some(tls) = &target.tls
        && (target.must_encrypt || (offers && !is_private))
    {
        if !offers {
            return Err("the server does not support TLS, which is required".to_owned());
        }
        capabilities |= CapabilityFlags::CLIENT_SSL;
        let collation = CollationId::UTF8MB4_GENERAL_CI as u8;
        channel.send_struct(&SslRequest::new(capabilities, LONGEST_PACKET, collation)).await?;
        channel = channel.encrypt(tls).await?;
        is_private = true;
    }
    let plugin = match greeting.auth_plugin() {
        Some(plugin @ AuthPlugin::CachingSha2Password) => plugin,
        // Where it is another one, the server says so once it knows who asks.
        _ => AuthPlugin::MysqlNativePassword,
    };
    let mut proof = Proof { plugin: plugin.into_owned(), password: &target.password, is_private };
    let attributes = HashMap::from([("program_name".to_owned(), name.to_owned())]);
    let response = HandshakeResponse::new(
        Some(proof.first(&greeting.nonce())?),
        VERSION,
        Some(target.user.as_bytes()),
        target.database.as_ref().map(String::as_bytes),
        Some(proof.plugin.clone()),
        capabilities,
        Some(attributes),
        LONGEST_PACKET,
    );
    channel.send_struct(&response).await?;
    proof.finish(&mut channel).await?;
    channel.is_logged_in();
    Ok(channel)
}

/// How this end shows who it is.
struct Proof<'a> {
    plugin: AuthPlugin<'static>,
    password: &'a str,
    /// Whether nobody can read along: over TLS, and over a socket of this machine.
    is_private: bool,
}

impl Proof<'_> {
    /// What the plugin says to the server's nonce.
    fn first(&self, nonce: &[u8]) -> Result<Vec<u8>, String> {
        match &self.plugin {
            AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password => {
                let data = self.plugin.gen_data(Some(self.password), nonce);
                Ok(data.map(|data| data.to_vec()).unwrap_or_default())
            }
            AuthPlugin::MysqlClearPassword => self.in_the_clear(),
            other => Err(format!(
                "the server asked for authentication by {}, which Redolab's load does not speak: use a user with \
                 mysql_native_password or caching_sha2_password",
                String::from_utf8_lossy(other.as_bytes())
            )),
        }
    }

    /// The password itself.
    fn in_the_clear(&self) -> Result<Vec<u8>, String> {
        if self.is_private {
            return Ok([self.password.as_bytes(), &[0]].concat());
        }
        Err("the server asked for the password itself, which is not sent over a network without TLS: \
             require TLS, or connect by the server's socket"
            .to_owned())
    }

    /// Go on until the server lets this end in.
    async fn finish(&mut self, channel: &mut Channel) -> Result<(), String> {
        let mut may_switch = true;
        loop {
            let packet = channel.receive().await?;
            match packet[..] {
                [OK, ..] => return Ok(()),
                [SWITCH, _, ..] if may_switch => {
                    may_switch = false;
                    let asked = ParseBuf(&packet).parse::<AuthSwitchRequest<'_>>(());
                    let asked = asked.map_err(|_| STRANGE.to_owned())?;
                    self.plugin = asked.auth_plugin().into_owned();
                    let answer = self.first(asked.plugin_data())?;
                    channel.send(&answer).await?;
                }
                [MORE, KNOWN_TO_SERVER] => {}
                [MORE, PASSWORD_WANTED] if self.plugin == AuthPlugin::CachingSha2Password => {
                    let password = self.in_the_clear()?;
                    channel.send(&password).await?;
                }
                _ => {
                    return Err(
                        "the server asked for an authentication that Redolab's load does not speak"
                            .to_owned(),
                    );
                }
            }
        }
    }
}
