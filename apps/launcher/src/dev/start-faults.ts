import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SimFaults } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { Logger } from '@tranche/telemetry'
import { type Simulator, createFaultSchedule, type FaultSchedule, faultsInvalid, listenForFaults, parseFaults } from '@tranche/sim'

/** Settings of fault injection. */
export interface FaultsOptions {
  /** Running simulator with its objects. */
  readonly simulator: Simulator
  /** Faults to inject from the start; undefined: none. */
  readonly document: SimFaults | undefined
  /** Path of the file of these faults. */
  readonly path: string | undefined
  /** Port to listen on; 0 picks a free port, null does not listen. */
  readonly port: number | null
  readonly seed: number
  readonly say: (text: string) => void
  readonly log: Logger
}

/** Running fault injection. */
export interface Faults {
  /** Address and token; null if it does not listen. */
  readonly access: { readonly url: string; readonly token: string } | null
  close(): Promise<void>
}

/**
 * Reads a file of faults before the cluster starts.
 *
 * @throws {AppError} FAULTS_INVALID
 */
export function readFaultsFile(path: string): SimFaults {
  const parsed = parseFaults(readText(path))
  if (parsed.kind === 'invalid') throw faultsInvalid(path, parsed.findings)
  return parsed.faults
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new AppError('FAULTS_INVALID', `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      details: { path },
      hint: 'Name a readable file.',
      cause: error,
    })
  }
}

/**
 * Injects the faults of the file, and accepts more over HTTP. Its token is random, and differs from that of the API server.
 *
 * @throws {AppError} FAULTS_INVALID if the file names objects that the cluster does not have; PORT_IN_USE
 */
export async function startFaults(options: FaultsOptions): Promise<Faults> {
  const { document, path = '', port } = options
  const schedule = createFaultSchedule(options)
  if (document !== undefined) {
    const added = await schedule.add(document)
    if (added.kind === 'invalid') throw faultsInvalid(path, added.findings)
  }
  if (port === null) return { access: null, close: async () => schedule.stop() }
  return listenFor(schedule, port)
}

async function listenFor(schedule: FaultSchedule, port: number): Promise<Faults> {
  const token = randomBytes(24).toString('base64url')
  const server = await listenForFaults({ schedule, token, port })
  return {
    access: { url: server.url, token },
    async close() {
      schedule.stop()
      await server.close()
    },
  }
}
