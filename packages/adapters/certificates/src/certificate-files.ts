import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Clock, Timer } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { Logger } from '@tranche/telemetry'
import { type Certificate, type CertificateAge, sayAge } from './certificate.ts'

/** PEM files of a server's certificate. */
export interface CertificateFiles {
  /** The certificate, followed by its chain. */
  readonly certFile: string
  readonly keyFile: string
}

/** Owner of a certificate, for messages. */
export interface CertificateOwner {
  /** Name in messages, such as `the REST API`. */
  readonly of: string
  /** Options that name the files, for errors: `--tls-cert-file` and `--tls-key-file`. */
  readonly options: { readonly cert: string; readonly key: string }
}

/** Interval between checks of the files, in milliseconds; certificates are rotated long before they expire. */
const LOOK_EVERY_MS = 10_000

/** @throws {AppError} OPTION_INVALID if the files cannot be read, or are not a certificate and its key */
export function readCertificate({ certFile, keyFile }: CertificateFiles, { options }: CertificateOwner): Certificate {
  const [cert, key] = [read(options.cert, certFile), read(options.key, keyFile)]
  try {
    createSecureContext({ cert, key })
    void new X509Certificate(cert)
  } catch (error) {
    throw new AppError('OPTION_INVALID', `${certFile} and ${keyFile} are not a certificate and its key: ${(error as Error).message}`, {
      details: { option: options.cert, value: certFile },
      hint: 'Use PEM files: a certificate with its chain, and its private key.',
      cause: error,
    })
  }
  return { cert, key }
}

/** Dependencies of {@link followCertificate}. */
export interface FollowingParts {
  readonly clock: Clock
  readonly log: Logger
  readonly owner: CertificateOwner
  readonly onChange: (certificate: Certificate) => void
}

/**
 * Follows the files and calls `onChange` with each usable pair.
 *
 * An unusable pair, such as while only one file has been replaced, is logged once, and the last good pair stays in use. A certificate that
 * expires soon or has expired is logged once as well.
 *
 * @param first the pair in use
 * @returns a function that stops following
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
        log.info({ file: files.certFile }, 'reloaded certificate')
      }
    } catch (error) {
      const { message } = error as Error
      if (message !== problem) log.error({ err: error }, 'could not load certificate; keeping the previous one')
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
      hint: 'Name a readable file.',
      cause: error,
    })
  }
}
