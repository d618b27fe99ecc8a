import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import ignore from '@balena/dockerignore'

const execute = promisify(execFile)

/** Tranche's part of the image, in a folder that any user may read. */
export interface Image {
  readonly folder: string
  remove(): void
}

/** Builds it from this checkout, without the step that installs the build's dependencies. */
export async function bundleImage(): Promise<Image> {
  const image = emptyImage()
  await run(process.execPath, ['scripts/bundle-cli.ts', image.folder], '.')
  await run('chmod', ['-R', 'a+rX', dirname(image.folder)], '.')
  return image
}

/** Builds it like the Dockerfile: with the same script, and only from the files that `.dockerignore` leaves of the checkout. */
export async function buildImage(): Promise<Image> {
  const image = emptyImage()
  const context = join(dirname(image.folder), 'context')
  copyContext(context)
  await run('sh', ['scripts/image-root.sh', image.folder], context)
  rmSync(context, { recursive: true })
  await run('chmod', ['a+rx', dirname(image.folder)], '.')
  return image
}

function emptyImage(): Image {
  const parent = mkdtempSync(join(tmpdir(), 'tranche-image-'))
  return { folder: join(parent, 'tranche'), remove: () => rmSync(parent, { recursive: true, force: true }) }
}

function copyContext(context: string): void {
  const ignored = ignore.default({ ignorecase: false }).add(readFileSync('.dockerignore', 'utf8'))
  const root = resolve('.')
  cpSync(root, context, {
    recursive: true,
    filter(source) {
      const path = relative(root, source)
      // An excluded folder may contain an included file.
      return path === '' || path === 'scripts' || !ignored.ignores(path)
    },
  })
}

async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  await execute(program, args, { cwd, env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` } })
}
