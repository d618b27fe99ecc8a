/** Builds the parts of a version on this machine. The same commit gives the same bytes. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { ImageFile } from '../image/files.ts'
import { architectures } from '../image/oci-layout.ts'
import { imageOf } from './addresses.ts'
import {
  type ArchivePlatform,
  archiveName,
  archivePlatforms,
  type CliArchive,
  packArchive,
  platformOfArchive,
  sha256Of,
} from './archives.ts'
import { packageChart } from './chart-package.ts'
import { homebrewFormula } from './homebrew.ts'
import { krewManifest } from './krew.ts'
import { contentOf, filesOfArchive } from './layer-files.ts'
import { packNpm } from './npm-package.ts'
import { blobOfLayout, indexOfLayout, layersOfLayout } from './push-layout.ts'
import { pathsOf, type ReleaseJob } from './release-job.ts'
import type { CommandRunner } from './run-command.ts'

/** Builds the image of both architectures, as a layout and as one file for `docker load`. What an earlier run built is removed. */
export async function buildImage(job: ReleaseJob, run: CommandRunner): Promise<string> {
  const { image, files } = pathsOf(job)
  rmSync(job.folder, { recursive: true, force: true })
  mkdirSync(files, { recursive: true })
  const name = `${imageOf(job.addresses)}:${job.version}`
  const archive = join(files, `tranche-${job.version}-image.tar`)
  await run(process.execPath, ['scripts/build-image.ts', '--output', image, '--name', name, '--archive', archive])
  return `${architectures.join(' and ')}: ${indexOfLayout(image).digest}`
}

/** Packs the command line for Linux on both architectures, and takes the archives of macOS from their folder. */
export async function buildArchives(job: ReleaseJob, run: CommandRunner): Promise<string> {
  const { executables } = pathsOf(job)
  await run(process.execPath, ['scripts/build-executable.ts', '--output', executables])
  const [base, app] = await imageFiles(job)
  for (const architecture of architectures) await packExecutable(job, `linux-${architecture}`, { base, app })
  const darwin = copyDarwinArchives(job)
  const missing = darwin.length === 0 ? '; none for macOS, which is built there (--darwin FOLDER)' : ''
  return `${archivesOf(job)
    .map(({ platform }) => platform)
    .join(', ')}${missing}`
}

/** Files of the two layers of an image. */
interface LayerFiles {
  readonly base: readonly ImageFile[]
  readonly app: readonly ImageFile[]
}

async function packExecutable(job: ReleaseJob, platform: ArchivePlatform, { base, app }: LayerFiles): Promise<void> {
  const { executables, files } = pathsOf(job)
  const texts = {
    LICENSE: contentOf(app, 'opt/tranche/LICENSE'),
    'THIRD-PARTY-LICENSES': contentOf(app, 'opt/tranche/THIRD-PARTY-LICENSES'),
    'NODE-LICENSE': contentOf(base, 'usr/share/doc/nodejs/LICENSE'),
    'sbom.cdx.json': contentOf(app, 'opt/tranche/sbom.cdx.json'),
  }
  const executable = readFileSync(join(executables, `tranche-${platform}`))
  writeFileSync(join(files, archiveName(job.version, platform)), await packArchive({ executable, texts }, job.created))
}

/**
 * Copies the archives that macOS built to the files of the page.
 *
 * @returns their names; none without a folder of them
 * @throws {Error} naming those that the folder lacks
 */
export function copyDarwinArchives({ darwin, version, folder }: Pick<ReleaseJob, 'darwin' | 'version' | 'folder'>): readonly string[] {
  if (darwin === null) return []
  const wanted = archivePlatforms.filter((platform) => platform.startsWith('darwin-')).map((platform) => archiveName(version, platform))
  const found = readdirSync(darwin)
  const missing = wanted.filter((name) => !found.includes(name))
  if (missing.length > 0) throw new Error(`--darwin ${darwin} lacks ${missing.join(' and ')}; build them on macOS: pnpm build:archive`)
  for (const name of wanted) copyFileSync(join(darwin, name), join(pathsOf({ folder }).files, name))
  return wanted
}

/** @returns the built archives, in the order of their platforms */
export function archivesOf({ version, folder }: Pick<ReleaseJob, 'version' | 'folder'>): readonly CliArchive[] {
  const { files } = pathsOf({ folder })
  const found = readdirSync(files).flatMap((file) => {
    const platform = platformOfArchive(file, version)
    return platform === undefined ? [] : [{ platform, file, sha256: sha256Of(readFileSync(join(files, file))) }]
  })
  return archivePlatforms.flatMap((platform) => found.filter((archive) => archive.platform === platform))
}

/** Packages the chart. */
export async function buildChart(job: ReleaseJob, helm: string, run: CommandRunner): Promise<string> {
  const file = await packageChart(pathsOf(job).files, { ...job, helm }, run)
  return `${basename(file)} with image.registry ${job.addresses.registry}`
}

/** Packs the npm package. */
export async function buildNpm(job: ReleaseJob, run: CommandRunner): Promise<string> {
  const { npm } = pathsOf(job)
  mkdirSync(npm, { recursive: true })
  const [, app] = await imageFiles(job)
  const file = await packNpm(app, job.addresses, npm, run)
  return `${basename(file)}, ${(readFileSync(file).length / 1e6).toFixed(1)} MB`
}

/** Writes the manifest of krew and the formula of Homebrew, with the digests of the archives. */
export function buildManifests(job: ReleaseJob): Promise<string> {
  const { files } = pathsOf(job)
  const archives = archivesOf(job)
  writeFileSync(join(files, 'krew.yaml'), krewManifest(job.version, archives, job.addresses))
  writeFileSync(join(files, 'homebrew.rb'), homebrewFormula(job.version, archives, job.addresses))
  return Promise.resolve(`krew.yaml and homebrew.rb for ${archives.length} archives`)
}

/** Copies the bills of materials out of the image. */
export async function buildBills(job: ReleaseJob): Promise<string> {
  const { files } = pathsOf(job)
  const names: string[] = []
  for (const architecture of architectures) {
    const [base] = await imageFiles(job, architecture)
    const bill = contentOf(base, 'usr/share/doc/tranche/sbom.cdx.json')
    const name = `tranche-${job.version}-image-${architecture}.cdx.json`
    writeFileSync(join(files, name), bill)
    names.push(
      `${(JSON.parse(bill.toString()) as { readonly components: readonly unknown[] }).components.length} components for ${architecture}`,
    )
  }
  return names.join(', ')
}

/** @returns files of the lower layer, with Node.js, and of the upper one, with Tranche */
async function imageFiles(job: ReleaseJob, architecture = 'amd64'): Promise<readonly [readonly ImageFile[], readonly ImageFile[]]> {
  const { image } = pathsOf(job)
  const [base = '', app = ''] = layersOfLayout(image, architecture)
  return [await filesOfArchive(blobOfLayout(image, base)), await filesOfArchive(blobOfLayout(image, app))]
}
