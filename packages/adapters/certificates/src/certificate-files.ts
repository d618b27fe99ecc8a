import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Clock, Timer } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { Logger } from '@tranche/log'
import { type Certificate, type CertificateAge, sayAge } from './certificate.ts'

/** Where the certificate of a server is, as PEM files. */
export interface CertificateFiles {
  /** The certificate, and behind it those that lead to its authority. */
  readonly certFile: string
  readonly keyFile: string
}

/** Whose certificate it is. */
export interface CertificateOwner {
  /** For texts: `the REST API`. */
  readonly of: string
  /** The options that name the files, for errors: `--tls-cert-file` and `--tls-key-file`. */
  readonly options: { readonly cert: string; readonly key: string }
}

/** How often the files are looked at, in milliseconds: what rotates a certificate does so long before the old one expires. */
const LOOK_EVERY_MS = 10_000

/** @throws {AppError} OPTION_INVALID where they cannot be read, or are no certificate and its key */
export function readCertificate({ certFile, keyFile }: CertificateFiles, { options }: CertificateOwner): Certificate {
  const [cert, key] = [read(options.cert, certFile), read(options.key, keyFile)]
  try {
    createSecureContext({ cert, key })
    void new X509Certificate(cert)
  } catch (error) {
    throw new AppError('OPTION_INVALID', `${certFile} and ${keyFile} are no certificate and its key: ${(error as Error).message}`, {
      details: { option: options.cert, value: certFile },
      hint: 'Give PEM files of a certificate with its chain, and of the key that belongs to it.',
      cause: error,
    })
  }
  return { cert, key }
}

/** What follows files. */
export interface FollowingParts {
  readonly clock: Clock
  readonly log: Logger
  readonly owner: CertificateOwner
  readonly onChange: (certificate: Certificate) => void
}

/**
 * Follows the files: `onChange` hears of each pair that can be used. One that cannot, as while only one of the files has been
 * replaced, is logged once, and the last good one stays in use. A certificate that expires soon, or has, is logged once as well.
 *
 * @param first what is in use
 * @returns what ends it
 */
export function followCertificate(
  files: CertificateFiles,
  first: Certificate,
  { clock, log, owner, onChange }: FollowingParts,
): () => void {
  const { of } = owner
  let current = first
  let problem = ''
  let age: CertificateAge = sayAge(first, { of, before: 'fresh' }, { clock, log })
  let timer: Timer
  const look = (): void => {
    try {
      const found = readCertificate(files, owner)
      problem = ''
      if (found.cert !== current.cert || found.key !== current.key) {
        onChange(found)
        current = found
        age = 'fresh'
        log.info({ file: files.certFile }, 'took a new certificate')
      }
    } catch (error) {
      const { message } = error as Error
      if (message !== problem) log.error({ err: error }, 'cannot take the certificate; goes on with the last one')
      problem = message
    }
    age = sayAge(current, { of, before: age }, { clock, log })
    timer = clock.setTimer(LOOK_EVERY_MS, look)
  }
  timer = clock.setTimer(LOOK_EVERY_MS, look)
  return () => timer.cancel()
}

function read(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new AppError('OPTION_INVALID', `${option} does not take ${JSON.stringify(path)}`, {
      details: { option, value: path },
      hint: 'Give a file that can be read.',
      cause: error,
    })
  }
}
