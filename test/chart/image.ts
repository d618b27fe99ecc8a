import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { newestPackages } from '../../scripts/image/debian-libraries.ts'
import { type ImageFile, withParents } from '../../scripts/image/files.ts'
import { appFiles, baseFiles } from '../../scripts/image/image-files.ts'
import type { Architecture } from '../../scripts/image/oci-layout.ts'

/** The files of the image for this machine, in folders that any user may read. */
export interface Image {
  /** Root of its file system. */
  readonly root: string
  /** Tranche's part of it. */
  readonly folder: string
  readonly files: readonly ImageFile[]
  remove(): void
}

/** Writes the files of the image as a container engine does, with the places where it mounts others. */
export async function unpackImage(): Promise<Image> {
  const parent = mkdtempSync(join(tmpdir(), 'tranche-image-'))
  const root = join(parent, 'root')
  const app = appFiles()
  const files = withParents([...app, ...(await baseForTests(app))])
  for (const file of files) writeFile(join(root, file.path), file)
  for (const place of ['proc', 'dev', 'etc/tranche', 'var', 'run/secrets/kubernetes.io/serviceaccount'])
    mkdirSync(join(root, place), { recursive: true })
  for (const device of ['null', 'urandom']) writeFileSync(join(root, 'dev', device), '')
  symlinkSync('/run', join(root, 'var/run'))
  return { root, folder: join(root, 'opt/tranche'), files, remove: () => rmSync(parent, { recursive: true, force: true }) }
}

/** Debian drops a package from its lists as soon as there is a newer one. That alone must not keep the tests from running. */
async function baseForTests(app: readonly ImageFile[]): Promise<readonly ImageFile[]> {
  const architecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
  try {
    return await baseFiles(architecture, app)
  } catch (error) {
    console.warn(error instanceof Error ? error.message : error)
    return baseFiles(architecture, app, newestPackages())
  }
}

function writeFile(path: string, { content, target, mode }: ImageFile): void {
  mkdirSync(dirname(path), { recursive: true })
  if (target !== undefined) symlinkSync(target, path)
  else if (content === undefined) mkdirSync(path, { recursive: true, mode })
  else writeFileSync(path, content, { mode })
}
