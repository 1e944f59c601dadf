//! TLS to Postgres and Redis: whose certificates are trusted, and what an operator is told about one that is not.
//! Never a connection, never our own certificate: HTTP is encrypted by whatever stands before Kith.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Whom we believe to be the server that they say they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Whoever answers.
    Anybody,
    /// Whoever has a certificate of a root that we trust, for whatever host.
    AnyHost,
    /// Whoever has a certificate of a root that we trust, for the host that we asked for.
    ThisHost,
}

/// Makes `ring` what encrypts, for libraries that make their own configuration. Doing it again changes nothing.
pub fn install() {
    // Refused only when one is installed already.
    let _ = ring::default_provider().install_default();
}

/// How to connect with TLS. The roots are those in the file `roots` (PEM), or else the system's.
///
/// Errors: a sentence for the operator.
pub fn client(trust: Trust, roots: Option<&Path>) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::Anybody => Arc::new(Lenient { chain: None, provider: provider.clone() }),
        Trust::AnyHost => Arc::new(Lenient { chain: Some(chain(roots, &provider)?), provider: provider.clone() }),
        Trust::ThisHost => chain(roots, &provider)?,
    };
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let versions = versions.map_err(|error| format!("TLS cannot be set up: {error}"))?;
    Ok(versions.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// The certificates in the file `path` (PEM), at least one.
///
/// Errors: a sentence for the operator.
pub fn pem(path: &Path) -> Result<Vec<u8>, String> {
    let text = std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    match CertificateDer::pem_slice_iter(&text).next() {
        Some(Ok(_)) => Ok(text),
        _ => Err(format!("{} has no certificate in PEM (-----BEGIN CERTIFICATE-----)", path.display())),
    }
}

/// What is wrong with the certificate that `error` is about, if it is about TLS, with the remedy. `setting` is
/// where the file of roots is named.
pub fn complaint(error: &(dyn Error + 'static), setting: &str) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return Some(explain(tls, setting));
        }
        // What these wrap is not among their sources.
        cause = if let Some(shared) = error.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
            Some(shared.as_ref())
        } else if let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner)
        } else {
            error.source()
        };
    }
    None
}

fn explain(error: &rustls::Error, setting: &str) -> String {
    let rustls::Error::InvalidCertificate(wrong) = error else {
        return format!("TLS failed ({error}): see that both sides speak TLS 1.2 or 1.3 on this port");
    };
    match wrong {
        // The second one when a trusted root only has the same name.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            format!("its certificate is of nobody whom we trust: name the file of its root certificate in {setting}")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another host: connect by the name that stands in it".into()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired: renew it, or set the clock of this machine right".into()
        }
        other => format!("its certificate is not valid ({other}): renew it"),
    }
}

fn chain(roots: Option<&Path>, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, String> {
    let mut store = RootCertStore::empty();
    match roots {
        Some(path) => store.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem(path)?).flatten()),
        None => store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs),
    };
    WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone())
        .build()
        .map_err(|_| "the system has no root certificates: install ca-certificates, or name a file of them".into())
}

/// Believes more than the libraries do by themselves, as the operator chose. What is signed is checked all the same.
#[derive(Debug)]
struct Lenient {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name comes last: everything before it was right.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
