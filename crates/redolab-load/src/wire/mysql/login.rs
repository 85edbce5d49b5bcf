//! The log-in: encryption, and the proof of who asks.

use std::collections::HashMap;

use mysql_common::collations::CollationId;
use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest,
};

use super::channel::{CAPABILITIES, Channel, STRANGE};
use super::log_ins::{IN_THE_CLEAR, Sent, sent_by};
use super::target::Target;

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
    // Told before TLS as well: MariaDB goes by what it was told first.
    capabilities.set(CapabilityFlags::CLIENT_CONNECT_WITH_DB, target.database.is_some());
    let mut is_private = target.unix_socket.is_some() && target.peer_uid.is_some();
    if let Some(tls) = &target.tls {
        if !offered.contains(CapabilityFlags::CLIENT_SSL) {
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
    /// Whether nobody can read along: over TLS, and over a socket whose other end is known.
    is_private: bool,
}

impl Proof<'_> {
    /// What the plugin says to the server's nonce.
    fn first(&self, nonce: &[u8]) -> Result<Vec<u8>, String> {
        match sent_by(self.plugin.as_bytes())? {
            Sent::Proof => {
                let data = self.plugin.gen_data(Some(self.password), nonce);
                Ok(data.map(|data| data.to_vec()).unwrap_or_default())
            }
            Sent::Password => self.in_the_clear(),
        }
    }

    /// The password itself.
    fn in_the_clear(&self) -> Result<Vec<u8>, String> {
        if self.is_private {
            return Ok([self.password.as_bytes(), &[0]].concat());
        }
        Err(IN_THE_CLEAR.to_owned())
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mysql_common::constants::{Command, StatusFlags};
    use mysql_common::proto::MySerialize;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;
    use crate::wire::mysql::target::{Encryption, Login};

    const SECRET: &str = "s3cret-of-the-test";
    const NATIVE: &str = "mysql_native_password";
    const OK_PACKET: [u8; 7] = [OK, 0, 0, 2, 0, 0, 0];

    fn target(encryption: Encryption) -> Target {
        let login = Login {
            host: "localhost",
            port: 3306,
            unix_socket: None,
            peer_uid: None,
            user: "me",
            password: Some(SECRET),
            database: None,
        };
        Target::new(&login, encryption, Duration::from_secs(60)).unwrap()
    }

    fn greeting(capabilities: CapabilityFlags, plugin: &str) -> Vec<u8> {
        let mut packet = Vec::new();
        HandshakePacket::new(
            10,
            &b"8.4.0"[..],
            7,
            [1; 8],
            Some([&[2; 12][..], &[0]].concat()),
            capabilities,
            45,
            StatusFlags::SERVER_STATUS_AUTOCOMMIT,
            Some(plugin.as_bytes()),
        )
        .serialize(&mut packet);
        packet
    }

    fn switch_to(plugin: &str) -> Vec<u8> {
        [&[SWITCH][..], plugin.as_bytes(), &[0], &[3; 20], &[0]].concat()
    }

    /// Sends each of `packets` in its turn, the first by itself and the others as answers; returns what it was told.
    async fn serve(mut stream: DuplexStream, packets: Vec<Vec<u8>>) -> Vec<u8> {
        let mut told = Vec::new();
        let mut number = 0;
        for packet in packets {
            let length = u32::try_from(packet.len()).unwrap().to_le_bytes();
            let bytes = [&length[..3], &[number], &packet].concat();
            if stream.write_all(&bytes).await.is_err() {
                break;
            }
            let mut head = [0; 4];
            if stream.read_exact(&mut head).await.is_err() {
                break;
            }
            number = head[3] + 1;
            let mut body = vec![0; usize::from(head[0]) + 256 * usize::from(head[1])];
            stream.read_exact(&mut body).await.unwrap();
            told.extend(body);
        }
        told
    }

    /// How the log-in at such a server ends, what is asked afterwards, and what the server heard.
    async fn met(encryption: Encryption, packets: Vec<Vec<u8>>) -> (Result<u64, String>, Vec<u8>) {
        let (ours, theirs) = duplex(1 << 20);
        let client = async {
            let mut channel = log_in(Channel::new(ours), &target(encryption), "test").await?;
            channel.query("update t set n = 1").await.map(|told| told.changed)
        };
        tokio::join!(client, serve(theirs, packets))
    }

    fn on_a_loop<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
    }

    fn refused(encryption: Encryption, packets: Vec<Vec<u8>>) -> String {
        let (outcome, heard) = on_a_loop(met(encryption, packets));
        let words = outcome.unwrap_err();
        assert!(!words.contains(SECRET), "{words}");
        let secret = SECRET.as_bytes();
        assert!(heard.windows(secret.len()).all(|part| part != secret), "{words}");
        words
    }

    #[test]
    fn a_server_that_is_satisfied_is_asked() {
        let packets =
            vec![greeting(CAPABILITIES, NATIVE), OK_PACKET.to_vec(), vec![0, 5, 0, 2, 0, 0, 0]];
        // The second answer belongs to a command, whose packets are counted anew.
        let (outcome, heard) = on_a_loop(met(Encryption::Disabled, packets));
        assert_eq!(outcome, Ok(5));
        let asked = [&[Command::COM_QUERY as u8][..], b"update t set n = 1"].concat();
        assert!(heard.ends_with(&asked));
        let attribute = b"\x0cprogram_name\x04test";
        assert!(heard.windows(attribute.len()).any(|part| part == attribute));
    }

    #[test]
    fn a_password_is_not_sent_in_the_clear() {
        for plugin in ["mysql_clear_password", "sha256_password"] {
            let packets = vec![greeting(CAPABILITIES, NATIVE), switch_to(plugin)];
            assert!(refused(Encryption::Disabled, packets).contains("the password itself"));
        }
        let caching = "caching_sha2_password";
        let packets = vec![greeting(CAPABILITIES, caching), vec![MORE, PASSWORD_WANTED]];
        assert!(refused(Encryption::Disabled, packets).contains("the password itself"));
    }

    #[test]
    fn a_strange_or_a_second_plugin_is_refused() {
        for plugin in
            ["dialog", "mysql_old_password", "client_ed25519", "parsec", "auth_gssapi_client"]
        {
            let packets = vec![greeting(CAPABILITIES, NATIVE), switch_to(plugin)];
            let words = refused(Encryption::Disabled, packets);
            assert!(words.contains(&format!("log-in by {plugin}, ")), "{words}");
        }
        let packets = vec![
            greeting(CAPABILITIES, NATIVE),
            switch_to(NATIVE),
            switch_to("mysql_clear_password"),
        ];
        assert!(refused(Encryption::Disabled, packets).contains("does not speak"));
        let packets = vec![greeting(CAPABILITIES, NATIVE), vec![SWITCH]];
        assert!(refused(Encryption::Disabled, packets).contains("does not speak"));
    }

    #[test]
    fn tls_that_is_required_and_not_offered_is_refused_before_anything_is_told() {
        let packets = vec![greeting(CAPABILITIES, NATIVE), OK_PACKET.to_vec()];
        let (outcome, heard) = on_a_loop(met(Encryption::Required, packets));
        assert!(outcome.unwrap_err().contains("does not support TLS"));
        assert_eq!(heard, b"");
    }

    #[test]
    fn who_is_too_old_or_no_server_at_all_is_refused() {
        let old = CAPABILITIES.difference(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        assert!(refused(Encryption::Disabled, vec![greeting(old, NATIVE)]).contains("8.4.0"));
        for noise in [vec![], vec![10], b"SSH-2.0-OpenSSH_9.2".to_vec(), vec![10; 40]] {
            let words = refused(Encryption::Disabled, vec![noise]);
            assert!(words.contains("not MySQL's protocol"), "{words}");
        }
        let flood = vec![10; 100_000];
        assert!(refused(Encryption::Disabled, vec![flood]).contains("not MySQL's protocol"));
    }

    #[test]
    fn a_server_that_asks_for_a_file_gets_none_and_is_left() {
        let ask = [&[0xFB][..], b"/etc/passwd"].concat();
        let packets = vec![greeting(CAPABILITIES, NATIVE), OK_PACKET.to_vec(), ask];
        let words = refused(Encryption::Disabled, packets);
        assert!(words.contains("asked for a file of this machine"), "{words}");
    }

    #[test]
    fn whoever_closes_a_connection_may_say_why() {
        let error = [&[0xFF, 0x10, 0x04, b'#'][..], b"08004", b"Too many connections"].concat();
        let words = refused(Encryption::Disabled, vec![error]);
        assert_eq!(words, "Too many connections (error 1040)");
        // One that does not know yet what this end can read leaves the state out.
        let error = [&[0xFF, 0x6A, 0x04][..], b"Host 'a' is not allowed"].concat();
        let words = refused(Encryption::Disabled, vec![error]);
        assert_eq!(words, "Host 'a' is not allowed (error 1130)");
    }
}
