/** Layers of an image: the same files give the same bytes. */
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { type ImageFile, withParents } from './files.ts'

/** A compressed layer. */
export interface Layer {
  readonly bytes: Buffer
  /** Digest of the layer before compression, as the configuration of an image lists it: `sha256:…`. */
  readonly diffId: string
}

/** Byte of a gzip header that names the system which compressed it, and its value for an unknown one. */
const SYSTEM_AT = 9
const UNKNOWN_SYSTEM = 255

/** @param created time of every entry */
export async function layerOf(files: readonly ImageFile[], created: Date): Promise<Layer> {
  const tar = pack()
  const bytes = buffer(tar)
  for (const { path, mode, content, target } of withParents(files)) {
    const common = { name: path, mode, mtime: created, uid: 0, gid: 0, uname: '', gname: '' }
    if (target !== undefined) tar.entry({ ...common, type: 'symlink', linkname: target })
    else if (content === undefined) tar.entry({ ...common, name: `${path}/`, type: 'directory' })
    else tar.entry({ ...common, type: 'file' }, content)
  }
  tar.finalize()
  const plain = await bytes
  const compressed = gzipSync(plain, { level: 9 })
  compressed[SYSTEM_AT] = UNKNOWN_SYSTEM
  return { bytes: compressed, diffId: digestOf(plain) }
}

/** @returns `sha256:…` */
export function digestOf(bytes: Buffer | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
