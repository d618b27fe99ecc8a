import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { AppError } from '@tranche/errors'

/** File name endings that kubectl reads from a folder. */
const endings = /\.(yaml|yml|json)$/

/**
 * @param paths files, folders, or `-` for standard input
 * @param isRecursive whether to include subfolders, as `kubectl apply -R` does
 * @returns the files to read, each once: named files, and the `.yaml`, `.yml` and `.json` files of folders, sorted by name
 * @throws {AppError} FILE_UNREADABLE for a folder that cannot be listed or has no such file, and for an entry that is not a regular
 *   file or links out of the folder. A path that does not exist is returned; reading it fails.
 */
export function findFiles(paths: readonly string[], isRecursive: boolean): readonly string[] {
  return [...new Set(paths.flatMap((path) => (isFolder(path) ? filesIn(path, isRecursive) : [path])))]
}

function isFolder(path: string): boolean {
  return path !== '-' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function filesIn(folder: string, isRecursive: boolean): readonly string[] {
  const { files, folders } = look(folder, isRecursive)
  for (const file of files) requireInside(file, folder)
  if (files.length > 0) return files
  const more = folders > 0 && !isRecursive ? ' itself' : ''
  throw new AppError('FILE_UNREADABLE', `the folder ${folder}${more} contains no .yaml, .yml or .json file`, {
    details: { path: folder },
    hint: more === '' ? 'Name a folder with manifests, or a file.' : 'Add -R to include its subfolders, or name one of them.',
  })
}

/** @throws {AppError} FILE_UNREADABLE for a pipe or a device, and for a link that leads out of the folder */
function requireInside(file: string, folder: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return
  if (!stats.isFile()) throw notRead(file, 'it is not a regular file', 'Remove it from the folder, or name the files to read.')
  if (!realpathSync(file).startsWith(`${realpathSync(folder)}${sep}`.replace(`${sep}${sep}`, sep)))
    throw notRead(file, `it links to a file outside ${folder}`, 'Name the target file, or remove the link.')
}

function notRead(path: string, why: string, hint: string): AppError {
  return new AppError('FILE_UNREADABLE', `${path} was skipped: ${why}`, { details: { path }, hint })
}

interface Found {
  readonly files: readonly string[]
  /** Number of subfolders. */
  readonly folders: number
}

function look(folder: string, isRecursive: boolean): Found {
  const found = entriesOf(folder).map((entry): Found => {
    const path = join(folder, entry.name)
    // Links to folders are skipped, as in kubectl: they may form a cycle.
    if (entry.isDirectory()) return { files: isRecursive ? look(path, true).files : [], folders: 1 }
    return { files: endings.test(entry.name) && !isFolder(path) ? [path] : [], folders: 0 }
  })
  return { files: found.flatMap(({ files }) => files), folders: found.reduce((sum, { folders }) => sum + folders, 0) }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new AppError('FILE_UNREADABLE', `${folder} cannot be read: ${why}`, {
      details: { path: folder },
      hint: 'Name a readable folder.',
      cause: error,
    })
  }
}
