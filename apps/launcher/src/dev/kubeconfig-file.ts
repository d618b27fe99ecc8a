import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { AppError } from '@tranche/errors'
import { parse, stringify } from 'yaml'
import { cannotWrite, requireFolder, writeWhole } from '../files/output-file.ts'

/** Address and credentials of the simulated API server. */
export interface ServerAccess {
  /** `https://127.0.0.1:6443`. */
  readonly server: string
  /** CA certificate of the server, PEM. */
  readonly ca: string
  readonly token: string
}

/** Files with the access data of the cluster. */
export interface AccessFiles {
  readonly kubeconfig: string
  readonly caFile: string
  /** Removes files in the temporary folder; keeps a kubeconfig whose path the user gave. */
  remove(): void
}

/** Name of cluster, user and context; identifies kubeconfigs that tranche wrote. */
const NAME = 'tranche-dev'

/**
 * Writes a kubeconfig, and the certificate beside it.
 *
 * @param path path of the kubeconfig; undefined: in a new temporary folder
 * @throws {AppError} FILE_UNWRITABLE, also if `path` is a kubeconfig that tranche did not write
 */
export function writeAccessFiles(access: ServerAccess, path: string | undefined): AccessFiles {
  const folder = path === undefined ? makeFolder() : undefined
  const kubeconfig = path === undefined ? join(folder!, 'kubeconfig') : resolve(path)
  const caFile = `${kubeconfig}.ca.crt`
  requireFolder(kubeconfig)
  refuseForeign(kubeconfig)
  writeWhole(caFile, access.ca)
  writeWhole(kubeconfig, stringify(kubeconfigOf(access)))
  return { kubeconfig, caFile, remove: () => folder !== undefined && rmSync(folder, { recursive: true, force: true }) }
}

function makeFolder(): string {
  const prefix = join(tmpdir(), 'tranche-')
  try {
    return mkdtempSync(prefix)
  } catch (error) {
    throw cannotWrite(prefix, error)
  }
}

function refuseForeign(path: string): void {
  if (!existsSync(path)) return
  const why = new Error('it already exists and tranche did not write it')
  const current = currentContext(path)
  if (current === NAME || current === null) return
  const { message, details } = cannotWrite(path, why)
  throw new AppError('FILE_UNWRITABLE', message, { details, hint: 'Name a new file, so that your other kubeconfig stays intact.' })
}

/** @returns null for an empty file */
function currentContext(path: string): unknown {
  try {
    const text = readFileSync(path, 'utf8')
    return text.trim() === '' ? null : (parse(text) as { 'current-context'?: unknown } | null)?.['current-context']
  } catch {
    return undefined
  }
}

function kubeconfigOf({ server, ca, token }: ServerAccess): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: NAME, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: NAME, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    'current-context': NAME,
  }
}
