/** Everything in the image. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { billOfImage } from './bill-of-image.ts'
import { type DebianPackage, libraryFiles, lockedPackages } from './debian-libraries.ts'
import { fileOf, filesIn, type ImageFile } from './files.ts'
import { nodeFiles, nodeVersion } from './node-program.ts'
import type { Architecture } from './oci-layout.ts'

/** Where downloads are kept. */
const cache = resolve('node_modules/.cache/image')
const BILL = 'usr/share/doc/tranche/sbom.cdx.json'

/** Files of an architecture, without Tranche's own: Node.js, C libraries, their licences, and a place for temporary files. */
export async function baseFiles(
  architecture: Architecture,
  app: readonly ImageFile[],
  packages: readonly DebianPackage[] = lockedPackages(),
): Promise<readonly ImageFile[]> {
  const own = packages.filter((one) => one.architecture === architecture)
  const bundled = app.find(({ path }) => path === 'opt/tranche/sbom.cdx.json')?.content
  if (bundled === undefined) throw new Error('the bundle has no bill of materials')
  return [
    ...(await libraryFiles(own, cache)),
    ...(await nodeFiles(architecture, cache)),
    { path: 'tmp', mode: 0o1777 },
    fileOf(BILL, JSON.stringify(billOfImage(bundled.toString(), own, nodeVersion()))),
  ]
}

/** The bundle of all programs, which is the same for every architecture, and a command that starts it by name. */
export function appFiles(): readonly ImageFile[] {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-bundle-'))
  try {
    execFileSync(process.execPath, ['scripts/bundle-cli.ts', folder], { stdio: ['ignore', 'ignore', 'inherit'] })
    const start = "#!/usr/bin/node\nawait import('/opt/tranche/bin/tranche.mjs')\n"
    return [...filesIn(folder, 'opt/tranche'), fileOf('usr/local/bin/tranche', start, 0o755)]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Settings with which an engine starts the image. */
export const imageSettings = {
  /** User and group of the chart's pods. */
  user: '65532:65532',
  entrypoint: ['/usr/bin/node', '/opt/tranche/bin/tranche.mjs'],
  command: ['--help'],
} as const

/** @returns fields of the manifest of the launcher, whose version is that of the image */
export function launcherManifest(): Readonly<Record<'version' | 'description' | 'license', string>> {
  return JSON.parse(readFileSync('apps/launcher/package.json', 'utf8')) as ReturnType<typeof launcherManifest>
}
