import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, fchmodSync, fstatSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { AppError } from '@tranche/errors'

/** A file that grows line by line. Neither call throws: what goes wrong is reported once, and what follows is dropped. */
export interface LineFile {
  writeLine(line: string): void
  /** Writes what is still held, and closes. */
  close(): void
}

/** Told once, when a file that is written all the while can no longer be: FILE_UNWRITABLE. */
export type ReportUnwritable = (error: AppError) => void

/** Lines are gathered up to this many characters before they are written. */
const GATHERED_CHARACTERS = 64 * 1024

/**
 * Opens a file for lines; what stood in it is gone.
 *
 * @throws {AppError} FILE_UNWRITABLE when it cannot be opened
 */
export function openLineFile(path: string, report: ReportUnwritable): LineFile {
  requireFolder(path)
  const fd = tryTo(path, () => openPrivately(path))
  let gathered = ''
  let broken = false
  const flush = (): void => {
    try {
      if (!broken) writeFileSync(fd, gathered)
    } catch (error) {
      broken = true
      report(cannotWrite(path, error))
    }
    gathered = ''
  }
  return {
    writeLine(line) {
      gathered += `${line}\n`
      if (gathered.length >= GATHERED_CHARACTERS) flush()
    },
    close() {
      flush()
      closeSync(fd)
    },
  }
}

/** @returns the descriptor of an emptied file that this user alone may read, one that existed before included */
export function openPrivately(path: string): number {
  const fd = openSync(path, 'w', 0o600)
  try {
    if (fstatSync(fd).isFile()) fchmodSync(fd, 0o600)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  return fd
}

/**
 * Removes what an earlier run has left there.
 *
 * @throws {AppError} FILE_UNWRITABLE, also where `path` is a folder or a device
 */
export function removeFile(path: string): void {
  requireFile(path)
  tryTo(path, () => rmSync(path, { force: true }))
}

/**
 * Writes a file that is either whole or not there at all, readable by this user alone.
 *
 * @throws {AppError} FILE_UNWRITABLE
 */
export function writeWhole(path: string, text: string): void {
  requireFolder(path)
  requireFile(path)
  const unfinished = `${path}.${randomUUID()}.tmp`
  tryTo(path, () => {
    try {
      writeFileSync(unfinished, text, { mode: 0o600, flag: 'wx' })
      renameSync(unfinished, path)
    } catch (error) {
      rmSync(unfinished, { force: true })
      throw error
    }
  })
}

/** @throws {AppError} FILE_UNWRITABLE when the folder of `path` does not exist */
export function requireFolder(path: string): void {
  const folder = dirname(resolve(path))
  if (!existsSync(folder)) throw cannotWrite(path, new Error(`the folder ${folder} does not exist`))
}

/** A folder stays, and a device is not replaced by a file. */
function requireFile(path: string): void {
  const stats = tryTo(path, () => statSync(path, { throwIfNoEntry: false }))
  if (stats?.isFile() === false) throw cannotWrite(path, new Error(stats.isDirectory() ? 'it is a folder' : 'it is not a regular file'))
}

/** @returns the error for a file that cannot be written */
export function cannotWrite(path: string, cause: unknown): AppError {
  const isFull = cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT')
  return new AppError('FILE_UNWRITABLE', `${path} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, {
    details: { path },
    hint: isFull ? 'Free disk space, or choose another location.' : 'Name a file in an existing, writable folder.',
    cause,
  })
}

function tryTo<T>(path: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw cannotWrite(path, error)
  }
}
