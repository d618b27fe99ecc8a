/** Checksums, provenance and signatures of everything that was built. */
import type { SerializedBundle } from '@sigstore/bundle'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartFolderOf, imageOf } from './addresses.ts'
import { sha256Of } from './archives.ts'
import { checksumsOf, type ReleaseFile } from './checksums.ts'
import { PROVENANCE, provenanceOf, SIGNATURE, type Statement, signatureOf, type StatementSubject } from './provenance.ts'
import { indexOfLayout } from './push-layout.ts'
import { type AttachedBundle, attachBundle, attachedBundles } from './referrers.ts'
import { digestsOf, type PartClients } from './rehearse.ts'
import { pathsOf, type ReleaseJob } from './release-job.ts'
import { releasePage } from './release-page.ts'
import { type Signing, statementIn } from './signing.ts'
import type { CommandRunner } from './run-command.ts'

const SUMS = 'SHA256SUMS'
const BUNDLE = '.sigstore.json'

/** Writes the text of the version's page, and the checksums of all its files. */
export function writeChecksums(job: ReleaseJob, changes: string): Promise<string> {
  const { files, notes } = pathsOf(job)
  const digests = digestsOf(job)
  const prefixed = { image: `sha256:${digests.image}`, chart: `sha256:${digests.chart}` }
  writeFileSync(notes, releasePage(changes, { ...job, ...prefixed }))
  const listed = listedFiles(job)
  writeFileSync(join(files, SUMS), checksumsOf(listed))
  return Promise.resolve(`${SUMS} of ${listed.length} files`)
}

/** Signs the checksums, and writes signed provenance of the files, the image and the chart. */
export async function signParts(job: ReleaseJob, signing: Signing): Promise<string> {
  const { files, signatures } = pathsOf(job)
  mkdirSync(signatures, { recursive: true })
  const sign = async (folder: string, name: string, statement: Statement): Promise<void> =>
    writeBundle(folder, name, await signing.signStatement(statement))
  writeBundle(files, SUMS, await signing.signBytes(readFileSync(join(files, SUMS))))
  await sign(files, provenanceName(job), provenanceOf(fileSubjects(job), job))
  for (const part of ['image', 'chart'] as const) {
    const sha256 = digestsOf(job)[part]
    await sign(signatures, part, signatureOf(sha256))
    await sign(signatures, `${part}.provenance`, provenanceOf([{ name: nameOf(job, part), digest: { sha256 } }], job))
  }
  if (signing.publicKey !== null) writeFileSync(join(signatures, 'dry-run.pub'), signing.publicKey)
  return `${SUMS}; statements about files, image and chart`
}

/** Reads the signatures as a user does, image and chart from a registry of this machine, and verifies them. */
export async function verifyParts(job: ReleaseJob, { signing, clients, run }: VerifyPorts): Promise<string> {
  const { files } = pathsOf(job)
  await run('sha256sum', ['--check', '--strict', '--quiet', SUMS], { cwd: files })
  await signing.verify(readBundle(files, SUMS), readFileSync(join(files, SUMS)))
  await signing.verify(readBundle(files, provenanceName(job)))
  for (const [part, client] of Object.entries(clients)) {
    const name = part as keyof PartClients
    const { digest } = await attachSignatures(job, name, client)
    const bundles = await attachedBundles(client, digest)
    for (const { bundle, predicateType } of bundles) await verifyStatement(signing, bundle, { predicateType, digest })
    if (bundles.length !== 2) throw new Error(`the ${part} has ${bundles.length} signatures instead of 2`)
  }
  return 'checksums, signatures and provenance, of files, image and chart'
}

/** What {@link verifyParts} uses from outside. */
export interface VerifyPorts {
  readonly signing: Signing
  readonly clients: PartClients
  readonly run: CommandRunner
}

/** Attaches signature and provenance to the image or chart in a registry, which must have it. */
export async function attachSignatures(
  job: ReleaseJob,
  part: keyof PartClients,
  client: PartClients['image'],
): Promise<{ readonly digest: string }> {
  const { signatures, ...folders } = pathsOf(job)
  const subject = indexOfLayout(folders[part])
  const bundles: readonly AttachedBundle[] = [
    { predicateType: SIGNATURE, bundle: readBundle(signatures, part) },
    { predicateType: PROVENANCE, bundle: readBundle(signatures, `${part}.provenance`) },
  ]
  for (const bundle of bundles) await attachBundle(client, subject, bundle)
  return subject
}

async function verifyStatement(
  signing: Signing,
  bundle: SerializedBundle,
  expected: { readonly predicateType: string; readonly digest: string },
): Promise<void> {
  await signing.verify(bundle)
  const { predicateType, subject } = statementIn(bundle)
  const isAbout = subject.some(({ digest }) => `sha256:${digest.sha256}` === expected.digest)
  if (predicateType !== expected.predicateType || !isAbout)
    throw new Error(`a statement of type ${predicateType} is not about ${expected.digest}`)
}

/** Files of the page, and the npm package. */
function fileSubjects(job: ReleaseJob): readonly StatementSubject[] {
  const { npm } = pathsOf(job)
  const packed = readdirSync(npm).map((name) => ({ name, bytes: readFileSync(join(npm, name)) }))
  return [...listedFiles(job), ...packed].map(({ name, bytes }) => ({ name, digest: { sha256: sha256Of(bytes) } }))
}

function nameOf({ addresses }: ReleaseJob, part: keyof PartClients): string {
  return part === 'image' ? imageOf(addresses) : `${chartFolderOf(addresses)}/tranche`
}

/** @returns the files of the page, without checksums and signatures */
function listedFiles(job: ReleaseJob): readonly ReleaseFile[] {
  const { files } = pathsOf(job)
  const names = readdirSync(files).filter((name) => name !== SUMS && !name.endsWith(BUNDLE))
  return names.map((name) => ({ name, bytes: readFileSync(join(files, name)) }))
}

function provenanceName({ version }: ReleaseJob): string {
  return `tranche-${version}.provenance`
}

function writeBundle(folder: string, name: string, bundle: SerializedBundle): void {
  writeFileSync(join(folder, name + BUNDLE), JSON.stringify(bundle))
}

function readBundle(folder: string, name: string): SerializedBundle {
  return JSON.parse(readFileSync(join(folder, name + BUNDLE), 'utf8')) as SerializedBundle
}
