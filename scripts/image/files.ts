/** Files of an image, before they become a layer. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** A file, folder or link. Owner and group are 0, and the time is that of the image. */
export interface ImageFile {
  /** Absolute path in the image without the leading slash, such as `usr/bin/node`. */
  readonly path: string
  /** Permissions, such as `0o755`. */
  readonly mode: number
  /** Content of a file; absent for folders and links. */
  readonly content?: Buffer
  /** Target of a symbolic link. */
  readonly target?: string
}

const READABLE = 0o644
const EXECUTABLE = 0o755

/** @returns the folder and everything in it under another path, readable for any user and writable for none but root */
export function filesIn(folder: string, path: string): readonly ImageFile[] {
  const here: ImageFile = { path, mode: EXECUTABLE }
  const inside = readdirSync(folder).flatMap((name): readonly ImageFile[] => {
    const source = join(folder, name)
    const place = `${path}/${name}`
    const entry = lstatSync(source)
    if (entry.isDirectory()) return filesIn(source, place)
    if (entry.isSymbolicLink()) return [{ path: place, mode: 0o777, target: readlinkSync(source) }]
    return [{ path: place, mode: (entry.mode & 0o111) === 0 ? READABLE : EXECUTABLE, content: readFileSync(source) }]
  })
  return [here, ...inside]
}

/** @returns a file that any user may read */
export function fileOf(path: string, content: Buffer | string, mode = READABLE): ImageFile {
  return { path, mode, content: Buffer.from(content) }
}

/** @returns the files with every folder that leads to them, each path once, by path: an earlier entry of a path wins */
export function withParents(files: readonly ImageFile[]): readonly ImageFile[] {
  const byPath = new Map<string, ImageFile>()
  for (const file of files) if (!byPath.has(file.path)) byPath.set(file.path, file)
  for (const { path } of files)
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const parent = path.slice(0, at)
      if (!byPath.has(parent)) byPath.set(parent, { path: parent, mode: EXECUTABLE })
    }
  return [...byPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
