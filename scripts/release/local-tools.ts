/** The steps of a release, carried out on this machine. */
import { findProgram } from '../debian-program.ts'
import { findPrograms } from '../../test/chart/programs.ts'
import { type Addresses, faultsOfAddresses } from './addresses.ts'
import { buildArchives, buildBills, buildChart, buildImage, buildManifests, buildNpm } from './build-parts.ts'
import { faultsOfVariables } from './credentials.ts'
import { type LoopbackRegistry, startRegistry } from './loopback-registry.ts'
import { describingPublisher, type Publisher, publicClients, publisherOf } from './publish-parts.ts'
import { loopbackClients, rehearseChart, rehearseCommandLine, rehearseImage } from './rehearse.ts'
import type { ReleaseJob } from './release-job.ts'
import type { ReleaseTools } from './release-steps.ts'
import type { RepositoryFacts } from './repository-facts.ts'
import { runCommand } from './run-command.ts'
import { signParts, verifyParts, writeChecksums } from './sign-parts.ts'
import { type Signing, throwAwaySigning, workflowSigning } from './signing.ts'
import { readinessFaults, versionFaults } from './version-faults.ts'

/** A release on this machine. */
export interface LocalRelease {
  readonly job: ReleaseJob
  readonly facts: RepositoryFacts
  /** Addresses as the caller gave them. */
  readonly given: Partial<Addresses>
  /** A dry run publishes nothing, signs with a key of its own, and reads no credentials. */
  readonly dryRun: boolean
}

/** @returns the tools, and how to end what they started */
export function localTools(release: LocalRelease): ReleaseTools & AsyncDisposable {
  const { job, facts, dryRun } = release
  const helm = (): string => findPrograms()?.helm ?? 'helm'
  let registry: LoopbackRegistry | null = null
  const host = async (): Promise<string> => (registry ??= await startRegistry()).host
  const signing: Signing = job.workflow === null ? throwAwaySigning() : workflowSigning(job.workflow.ref)
  return {
    ...publisherFor(release),
    checkVersion: () => checkVersion(facts, dryRun),
    checkCredentials: () => checkCredentials(release),
    checkPrograms: () => checkPrograms(helm(), dryRun),
    buildImage: () => buildImage(job, runCommand),
    buildArchives: () => buildArchives(job, runCommand),
    buildChart: () => buildChart(job, helm(), runCommand),
    buildNpm: () => buildNpm(job, runCommand),
    buildManifests: () => buildManifests(job),
    buildBills: () => buildBills(job),
    rehearseImage: async () => rehearseImage(job, loopbackClients(await host())),
    rehearseChart: async () => rehearseChart(job, { host: await host(), helm: helm() }, runCommand),
    rehearseCommandLine: () => rehearseCommandLine(job, runCommand),
    writeChecksums: () => writeChecksums(job, facts.notes),
    signParts: () => signParts(job, signing),
    verifyParts: async () => verifyParts(job, { signing, clients: loopbackClients(await host()), run: runCommand }),
    [Symbol.asyncDispose]: async () => registry?.dispose(),
  }
}

function publisherFor({ job, dryRun }: LocalRelease): Publisher {
  if (dryRun) return describingPublisher(job)
  const { REGISTRY_USER: user = '', REGISTRY_TOKEN: token = '' } = process.env
  return publisherOf(job, publicClients(job, { user, token }), runCommand)
}

async function checkVersion(facts: RepositoryFacts, dryRun: boolean): Promise<string> {
  failOn(versionFaults(facts))
  const faults = readinessFaults({ ...facts, date: facts.changelog?.date ?? null })
  if (!dryRun) failOn(faults)
  return [`${facts.version} in package.json, chart and changelog`, ...faults.map((fault) => `to release: ${fault}`)].join(
    `\n${' '.repeat(37)}`,
  )
}

async function checkCredentials({ given, job, dryRun }: LocalRelease): Promise<string> {
  if (dryRun) {
    failOn(faultsOfAddresses(job.addresses))
    return `a dry run needs none; addresses of ${job.addresses.registry} and ${job.addresses.repository}`
  }
  failOn([...faultsOfAddresses(given), ...faultsOfVariables(process.env)])
  return `for ${job.addresses.registry} and ${job.addresses.repository}`
}

async function checkPrograms(helm: string, dryRun: boolean): Promise<string> {
  const npm = await runCommand('npm', ['--version'])
  const versions = [`helm ${await runCommand(helm, ['version', '--short'])}`, `npm ${npm}`]
  if (dryRun) return versions.join(', ')
  if (!knowsWorkflows(npm)) throw new Error(`npm is ${npm}; use 11.5.1 or newer, which publishes with the identity of a workflow`)
  const gh = await findProgram('gh')
  if ('missing' in gh) throw new Error(gh.missing)
  return [...versions, await runCommand('gh', ['--version'])].join(', ').split('\n')[0]!
}

/** @returns whether this version of npm publishes without a token */
function knowsWorkflows(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  return major > 11 || (major === 11 && (minor > 5 || (minor === 5 && patch >= 1)))
}

function failOn(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n  '))
}
