/**
 * Packs the command line for the platform of this machine, as `pnpm release` does for Linux: `pnpm build:archive [--output FOLDER]`.
 *
 * The release runs it on macOS, because only macOS can sign its programs. The signature has no identity (`codesign --sign -`): the project has
 * no certificate of Apple.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { appFiles, launcherManifest } from './image/image-files.ts'
import { archiveName, archivePlatforms, packArchive } from './release/archives.ts'
import { contentOf } from './release/layer-files.ts'
import { readFacts } from './release/repository-facts.ts'
import { runCommand } from './release/run-command.ts'

const { values } = parseArgs({ options: { output: { type: 'string', default: 'dist/archive' } } })
const work = mkdtempSync(join(tmpdir(), 'tranche-archive-'))
try {
  execFileSync(process.execPath, ['scripts/build-executable.ts', '--node', process.execPath, '--output', work], { stdio: 'inherit' })
  const [built = ''] = readdirSync(work)
  if (process.platform === 'darwin') execFileSync('codesign', ['--force', '--sign', '-', join(work, built)], { stdio: 'inherit' })
  const platform = archivePlatforms.find((one) => built === `tranche-${one}`)
  if (platform === undefined) throw new Error(`${built}: no archive is for this platform; use one of ${archivePlatforms.join(', ')}`)
  const app = appFiles()
  const ours = ['LICENSE', 'THIRD-PARTY-LICENSES', 'sbom.cdx.json'].map((name) => [name, contentOf(app, `opt/tranche/${name}`)] as const)
  const texts = { ...Object.fromEntries(ours), 'NODE-LICENSE': readFileSync(join(dirname(process.execPath), '../LICENSE')) }
  const { created } = await readFacts(runCommand)
  const archive = await packArchive({ executable: readFileSync(join(work, built)), texts }, created)
  const name = archiveName(launcherManifest().version, platform)
  mkdirSync(values.output, { recursive: true })
  writeFileSync(join(values.output, name), archive)
  console.log(`${join(values.output, name)}: ${(archive.length / 1e6).toFixed(1)} MB`)
} finally {
  rmSync(work, { recursive: true })
}
