//! Uploads of files with tus 1.0: after a broken connection, the register reports how many bytes it has, and the client
//! sends the rest.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ureq::SendBody;
use ureq::http::Method;

use crate::client::{Client, Error, Refusal, Response};

const VERSION: &str = "1.0.0";
const BODY_TYPE: &str = "application/offset+octet-stream";
/// The number of times that a file, or all files of a draft, are sent from the beginning at most.
pub const BEGINNINGS_MAX: u32 = 3;

/// A file to send.
#[derive(Debug, Clone, Copy)]
pub struct Upload<'a> {
    /// The file.
    pub path: &'a Path,
    /// Keys and values that the register gets with the file.
    pub metadata: &'a [(&'a str, &'a str)],
}

/// A file that the register has received.
#[derive(Debug, Clone)]
pub struct Uploaded {
    /// The address of the upload, without the register.
    pub location: String,
    /// The draft that the file belongs to.
    pub draft: String,
}

impl Client {
    /// Sends a file, and continues after broken connections. `progress` gets the bytes sent so far, and all bytes. If
    /// the register refuses the file's bytes, this deletes the upload: it would count for the organisation's quota.
    ///
    /// # Errors
    /// If the file cannot be read, or the register is not available for too long or refuses the file.
    pub fn upload(&self, upload: Upload<'_>, progress: &mut dyn FnMut(u64, u64)) -> Result<Uploaded, Error> {
        let mut beginnings = 1;
        loop {
            match self.upload_once(upload, progress) {
                Err(Error::Refused(refusal)) if refusal.is_gone() && beginnings < BEGINNINGS_MAX => {
                    beginnings += 1;
                }
                ended => return ended,
            }
        }
    }

    fn upload_once(&self, upload: Upload<'_>, progress: &mut dyn FnMut(u64, u64)) -> Result<Uploaded, Error> {
        let failed = |error| Error::File {
            path: upload.path.to_owned(),
            error,
        };
        let mut file = File::open(upload.path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let announced = self.repeat(|| self.announce(upload, size))?;
        let location = announced.header("Location");
        // Another server would get the token and the file.
        if !location.starts_with('/') && !location.starts_with(&format!("{}/", self.address())) {
            let detail =
                format!("expected the header Location with an address of the register, got {location:?}");
            return Err(Error::Refused(Refusal::of_other_server(announced.status, detail)));
        }
        let uploaded = Uploaded {
            location: location.to_owned(),
            draft: announced.header("Drivecert-Draft").to_owned(),
        };
        let ended = self.send_bytes(upload.path, &mut file, size, &uploaded.location, progress);
        if matches!(&ended, Err(Error::Refused(refusal)) if !refusal.is_gone()) {
            drop(self.terminate(&uploaded.location));
        }
        ended.map(|()| uploaded)
    }

    fn send_bytes(
        &self,
        path: &Path,
        file: &mut File,
        size: u64,
        location: &str,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), Error> {
        let failed = |error| Error::File {
            path: path.to_owned(),
            error,
        };
        let (mut offset, mut backoff) = (0, self.backoff());
        progress(offset, size);
        while offset < size {
            file.seek(SeekFrom::Start(offset)).map_err(failed)?;
            let mut body = Counted {
                file: (&mut *file).take(size - offset),
                sent: offset,
                size,
                progress,
                error: None,
            };
            let sent = self.append(location, offset, &mut body);
            if let Some(error) = body.error.take() {
                return Err(failed(error));
            }
            let (arrived, has_paused) = match sent {
                Ok(arrived) => (arrived, false),
                Err(Error::Refused(refusal)) if refusal.status != 409 => return Err(Error::Refused(refusal)),
                Err(Error::Refused(_)) => (self.repeat(|| self.offset(location))?, false),
                Err(error) => {
                    self.pause(&mut backoff, error)?;
                    (self.repeat(|| self.offset(location))?, true)
                }
            };
            if arrived > offset {
                backoff.reset();
            } else if !has_paused {
                let reason = format!("{}: the upload does not advance", self.address());
                let retry_after = None;
                self.pause(&mut backoff, Error::Unavailable { reason, retry_after })?;
            }
            offset = arrived;
            progress(offset, size);
        }
        Ok(())
    }

    fn announce(&self, upload: Upload<'_>, size: u64) -> Result<Response, Error> {
        let pairs = upload.metadata.iter();
        let pairs: Vec<_> = pairs
            .map(|(name, value)| format!("{name} {}", STANDARD.encode(value)))
            .collect();
        let request = self
            .request(Method::POST, "/uploads/")
            .header("Tus-Resumable", VERSION)
            .header("Upload-Length", size)
            .header("Upload-Metadata", pairs.join(","));
        // Without a body, the request would be sent in pieces, and its end might come after the reply.
        self.send(request, &[][..])
    }

    fn append(&self, location: &str, offset: u64, body: &mut Counted<'_>) -> Result<u64, Error> {
        let left = body.size - offset;
        let request = self
            .request(Method::PATCH, location)
            .header("Tus-Resumable", VERSION)
            .header("Upload-Offset", offset)
            .header("Content-Type", BODY_TYPE)
            .header("Content-Length", left);
        offset_of(&self.send(request, SendBody::from_reader(body))?)
    }

    fn offset(&self, location: &str) -> Result<u64, Error> {
        let request = self
            .request(Method::HEAD, location)
            .header("Tus-Resumable", VERSION);
        offset_of(&self.send(request, SendBody::none())?)
    }

    /// Deletes an upload, and its draft if that has no other file. It does not try again.
    fn terminate(&self, location: &str) -> Result<(), Error> {
        let request = self
            .request(Method::DELETE, location)
            .header("Tus-Resumable", VERSION);
        self.send(request, SendBody::none()).map(drop)
    }
}

fn offset_of(response: &Response) -> Result<u64, Error> {
    let text = response.header("Upload-Offset");
    text.parse().map_err(|_| {
        let detail = format!("expected the header Upload-Offset with a number, got {text:?}");
        Error::Refused(Refusal::of_other_server(response.status, detail))
    })
}

/// The rest of a file, whose reading is counted as progress.
struct Counted<'a> {
    file: io::Take<&'a mut File>,
    sent: u64,
    size: u64,
    progress: &'a mut dyn FnMut(u64, u64),
    error: Option<io::Error>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.file.read(buffer) {
            Ok(count) => {
                self.sent += count as u64;
                (self.progress)(self.sent, self.size);
                Ok(count)
            }
            Err(error) => {
                let kind = error.kind();
                self.error = Some(error);
                Err(kind.into())
            }
        }
    }
}
