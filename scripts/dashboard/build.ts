/** Builds the web page with Vite, for the checkout and for the bundle. */
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, type Plugin, type Rolldown } from 'vite'

/** A built page. */
export interface BuiltDashboard {
  /** Absolute paths of the modules in the page, of libraries too. */
  readonly modules: readonly string[]
  readonly files: number
  /** Size of the files without the compressed copies. */
  readonly bytes: number
}

/** Files of these types shrink; images are compressed already. */
const shrinking = /\.(?:js|css|svg|json|wasm|txt)$/
/** Below this size a compressed copy saves no packet. */
const SMALLEST_BYTES = 1_024

/** Additions of the bundle to the build. */
export interface DashboardExtras {
  readonly plugins?: readonly Plugin[]
  /** Log handler of the bundler. */
  readonly onLog?: Rolldown.InputOptions['onLog'] & {}
}

/** Builds the page into a folder, and writes a compressed copy (`.br`, `.gz`) beside each larger file of `assets/`. */
export async function buildDashboard(folder: string, extras: DashboardExtras = {}): Promise<BuiltDashboard> {
  const outDir = resolve(folder)
  const output = await bundle(outDir, extras)
  const assets = globSync('assets/**', { cwd: outDir }).map((name) => join(outDir, name))
  for (const file of assets) if (shrinking.test(file)) writeCompressed(file)
  return {
    modules: output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : [])),
    files: output.length,
    bytes: output.reduce((sum, { fileName }) => sum + (statSync(join(outDir, fileName), { throwIfNoEntry: false })?.size ?? 0), 0),
  }
}

type Output = readonly (Rolldown.OutputChunk | Rolldown.OutputAsset)[]

async function bundle(outDir: string, { plugins = [], onLog }: DashboardExtras): Promise<Output> {
  const root = resolve('apps/dashboard')
  const environment = process.env['NODE_ENV']
  // Any other value, as in a test, would build the development version of the libraries.
  process.env['NODE_ENV'] = 'production'
  try {
    const results = await build({
      root,
      configFile: join(root, 'vite.config.ts'),
      envDir: false,
      logLevel: 'warn',
      plugins: [...plugins],
      build: { outDir, emptyOutDir: true, chunkSizeWarningLimit: Number.POSITIVE_INFINITY, ...(onLog && { rolldownOptions: { onLog } }) },
    })
    return [results].flat().flatMap((result) => ('output' in result ? result.output : []))
  } finally {
    if (environment === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = environment
  }
}

function writeCompressed(file: string): void {
  const content = readFileSync(file)
  if (content.byteLength < SMALLEST_BYTES) return
  const copies = {
    br: brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.byteLength } }),
    gz: gzipSync(content, { level: constants.Z_BEST_COMPRESSION }),
  }
  for (const [ending, copy] of Object.entries(copies)) if (copy.byteLength < content.byteLength) writeFileSync(`${file}.${ending}`, copy)
}
