/**
 * Builds the command line as one file that needs no Node.js: `pnpm build:executable`.
 *
 * ```text
 * pnpm build:executable                          for amd64 and arm64 of Linux, into dist/executable/tranche-linux-{amd64,arm64}
 * pnpm build:executable --architecture arm64     only for this architecture; may be repeated
 * pnpm build:executable --node FILE              for the platform of this Node.js, such as one of macOS; the version must be that of the image
 * pnpm build:executable --output FOLDER
 * ```
 *
 * An executable of macOS has no valid signature afterwards: `codesign --sign - FILE`, on macOS.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants } from 'node:zlib'
import { rolldown } from 'rolldown'
import type { ImageFile } from './image/files.ts'
import { appFiles } from './image/image-files.ts'
import { nodeFiles, nodeVersion } from './image/node-program.ts'
import { architectureOf, architectures } from './image/oci-layout.ts'

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: 'dist/executable' },
    architecture: { type: 'string', multiple: true, default: [...architectures] },
    node: { type: 'string' },
  },
})
const output = resolve(values.output)
mkdirSync(output, { recursive: true })
const work = mkdtempSync(join(tmpdir(), 'tranche-executable-'))
try {
  const blob = await createBlob(work)
  if (values.node === undefined) for (const name of values.architecture) await buildForLinux(architectureOf(name), blob)
  else build(`tranche-${platformOf(values.node)}`, readFileSync(values.node), blob)
} finally {
  rmSync(work, { recursive: true })
}

async function buildForLinux(architecture: (typeof architectures)[number], blob: string): Promise<void> {
  const files = await nodeFiles(architecture, resolve('node_modules/.cache/image'))
  const node = files.find(({ path }) => path === 'usr/bin/node')?.content
  if (node === undefined) throw new Error(`Node.js for ${architecture} has no program`)
  build(`tranche-linux-${architecture}`, node, blob)
}

/** Writes a copy of Node.js with our files in it, which it starts instead of a script. */
function build(name: string, node: Buffer, blob: string): void {
  const file = join(output, name)
  writeFileSync(file, node)
  // The fuse is a text in Node.js that postject looks for. See https://nodejs.org/api/single-executable-applications.html
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
  const options = ['--sentinel-fuse', fuse, '--macho-segment-name', 'NODE_SEA']
  execFileSync(process.execPath, [resolve('node_modules/postject/dist/cli.js'), file, 'NODE_SEA_BLOB', blob, ...options], { stdio: 'pipe' })
  chmodSync(file, 0o755)
  console.log(`${join(values.output, name)}: ${(readFileSync(file).length / 1e6).toFixed(0)} MB`)
}

/** @returns the file that Node.js keeps in the executable: the script that starts it, and the files of the bundle */
async function createBlob(folder: string): Promise<string> {
  const bundled = appFiles().filter(({ path, content }) => path.startsWith('opt/tranche/') && content !== undefined)
  writeContent(folder, bundled)
  await bundleStart(join(folder, 'start.cjs'))
  // The blob contains this path: an absolute one would differ with each build.
  const settings = {
    main: 'start.cjs',
    output: 'blob',
    disableExperimentalSEAWarning: true,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    assets: { index: 'index.json', content: 'content.br' },
  }
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
  execFileSync(process.execPath, ['--experimental-sea-config', 'settings.json'], { cwd: folder, stdio: 'pipe' })
  return join(folder, settings.output)
}

function writeContent(folder: string, files: readonly ImageFile[]): void {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const content = Buffer.concat(sorted.map((file) => file.content ?? Buffer.alloc(0)))
  const index = {
    digest: createHash('sha256').update(content).digest('hex').slice(0, 16),
    files: sorted.map(({ path, content: own }) => ({ path: path.replace('opt/tranche/', ''), size: own?.length ?? 0 })),
  }
  writeFileSync(join(folder, 'index.json'), JSON.stringify(index))
  writeFileSync(join(folder, 'content.br'), brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }))
}

async function bundleStart(file: string): Promise<void> {
  const bundle = await rolldown({ input: 'scripts/executable/start.mjs', platform: 'node' })
  await bundle.write({ file, format: 'cjs' })
  await bundle.close()
}

/** @throws {Error} if the Node.js is another version than that of the tests */
function platformOf(node: string): string {
  const text = execFileSync(node, ['--print', 'process.version + " " + process.platform + "-" + process.arch'], { encoding: 'utf8' }).trim()
  const [version, platform = ''] = text.split(' ')
  if (version !== `v${nodeVersion()}`) throw new Error(`--node is Node.js ${version}: give one of ${nodeVersion()}`)
  return platform.replace('x64', 'amd64')
}
