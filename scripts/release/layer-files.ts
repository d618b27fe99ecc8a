import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { fileOf, type ImageFile } from '../image/files.ts'

/** @returns the files in a compressed archive, without folders and links */
export async function filesOfArchive(compressed: Buffer): Promise<readonly ImageFile[]> {
  const files: ImageFile[] = []
  for await (const entry of Readable.from([gunzipSync(compressed)]).pipe(extract())) {
    const { name, mode, type } = entry.header
    const content = await buffer(entry)
    if (type === 'file') files.push(fileOf(name, content, (mode & 0o111) === 0 ? 0o644 : 0o755))
  }
  return files
}

/** @throws {Error} if there is no such file */
export function contentOf(files: readonly ImageFile[], path: string): Buffer {
  const content = files.find((file) => file.path === path)?.content
  if (content === undefined) throw new Error(`no file ${path} in the image`)
  return content
}
