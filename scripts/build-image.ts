/**
 * Builds the image of all components without a container engine: `pnpm build:image`.
 *
 * ```text
 * pnpm build:image                            into dist/image, as a layout of the Open Container Initiative
 * pnpm build:image --output FOLDER            into another folder, which is replaced
 * pnpm build:image --archive FILE             writes one file too, for `docker load` or `kind load image-archive`
 * pnpm build:image --architecture amd64       only for this architecture; may be repeated
 * pnpm build:image --name registry.example/tranche:0.1.0
 * pnpm build:image --pin                      pins the newest Debian packages instead, in scripts/image/debian-libraries.json
 * ```
 *
 * Needs npm, and `apt-get` and `dpkg-deb` of Debian. The same commit gives the same digest: the time of everything in the image is
 * `SOURCE_DATE_EPOCH`, by default the time of the commit.
 */
import { execFileSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { pack } from 'tar-stream'
import { pinNewest } from './image/debian-libraries.ts'
import { filesIn } from './image/files.ts'
import { appFiles, baseFiles, imageSettings, launcherManifest } from './image/image-files.ts'
import { layerOf } from './image/layer.ts'
import { architectureOf, architectures, type PlatformImage, writeLayout } from './image/oci-layout.ts'

const { version, description, license } = launcherManifest()

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: 'dist/image' },
    archive: { type: 'string' },
    architecture: { type: 'string', multiple: true, default: [...architectures] },
    name: { type: 'string', default: `tranche:${version}` },
    pin: { type: 'boolean', default: false },
  },
})
const chosen = values.architecture.map(architectureOf)

if (values.pin) pinNewest()
else await build()

async function build(): Promise<void> {
  const created = new Date(Number(process.env['SOURCE_DATE_EPOCH'] ?? git('log', '-1', '--format=%ct')) * 1_000)
  const files = appFiles()
  const app = await layerOf(files, created)
  const images: PlatformImage[] = []
  for (const architecture of chosen) {
    const base = await layerOf(await baseFiles(architecture, files), created)
    images.push({ architecture, layers: [base, app] })
    console.log(`${architecture}: ${((base.bytes.length + app.bytes.length) / 1e6).toFixed(1)} MB compressed`)
  }
  const folder = resolve(values.output)
  const digest = writeLayout(folder, images, { ...imageSettings, created, labels: labelsOf(created), name: values.name })
  if (values.archive !== undefined) await archive(folder, resolve(values.archive), created)
  console.log(`${values.output}: ${values.name}@${digest}`)
}

/** @see https://github.com/opencontainers/image-spec/blob/main/annotations.md */
function labelsOf(created: Date): Readonly<Record<string, string>> {
  const labels = {
    title: 'tranche',
    description,
    version,
    licenses: license,
    revision: git('rev-parse', 'HEAD'),
    created: created.toISOString(),
  }
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [`org.opencontainers.image.${name}`, String(value)]))
}

async function archive(folder: string, file: string, created: Date): Promise<void> {
  const tar = pack()
  const written = pipeline(tar, createWriteStream(file))
  for (const { path, content } of filesIn(folder, '.'))
    if (content !== undefined)
      tar.entry({ name: path.slice(2), mode: 0o644, mtime: created, uid: 0, gid: 0, uname: '', gname: '' }, content)
  tar.finalize()
  await written
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim()
}
