import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, fchmodSync, fstatSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { AppError } from '@tranche/errors'

/** A file written line by line. No call throws: the first error is reported, and later lines are dropped. */
export interface LineFile {
  writeLine(line: string): void
  /** Flushes and closes. */
  close(): void
}

/** Called once, with FILE_UNWRITABLE, when a write to an open file fails. */
export type ReportUnwritable = (error: AppError) => void

/** Size of the write buffer, in characters. */
const GATHERED_CHARACTERS = 64 * 1024

/**
 * Opens a file for lines, and truncates it.
 *
 * @throws {AppError} FILE_UNWRITABLE if it cannot be opened
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

/** @returns the descriptor of a truncated file with mode 0600, also if it existed before */
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
 * Removes a file of an earlier run.
 *
 * @throws {AppError} FILE_UNWRITABLE, also if `path` is a folder or a device
 */
export function removeFile(path: string): void {
  requireFile(path)
  tryTo(path, () => rmSync(path, { force: true }))
}

/**
 * Writes a file atomically, with mode 0600.
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

/** @throws {AppError} FILE_UNWRITABLE if the folder of `path` does not exist */
export function requireFolder(path: string): void {
  const folder = dirname(resolve(path))
  if (!existsSync(folder)) throw cannotWrite(path, new Error(`the folder ${folder} does not exist`))
}

/** Refuses to replace folders and devices. */
function requireFile(path: string): void {
  const stats = tryTo(path, () => statSync(path, { throwIfNoEntry: false }))
  if (stats?.isFile() === false) throw cannotWrite(path, new Error(stats.isDirectory() ? 'it is a folder' : 'it is not a regular file'))
}

/** @returns FILE_UNWRITABLE with the cause and a hint */
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
