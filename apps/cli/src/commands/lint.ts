import { createReadStream } from 'node:fs'
import { AppError } from '@tranche/errors'
import { isHostAllowed } from '@tranche/egress'
import { readAllowHosts } from '../options/allow-hosts.ts'
import { type CommandIo, type InputStream, wantsColors } from '../process/command-io.ts'
import type { LintOptions } from '../options/lint-options.ts'
import { type ExitCode, exitCodes } from '../process/exit-codes.ts'
import { findFiles } from '../lint/find-files.ts'
import { lintDocuments, nothingFound } from '../lint/lint-documents.ts'
import { lintReport } from '../lint/lint-report.ts'
import { readDocuments } from '../lint/read-documents.ts'
import { sayLines } from '../output/say-lines.ts'

/**
 * Checks manifests without a cluster. All files are checked together, so a Rollout and its DaemonSet may be in different files.
 *
 * @returns failed if there are problems; advice does not count
 * @throws {AppError} FILE_UNREADABLE, OPTION_INVALID
 */
export async function lint(options: LintOptions, io: CommandIo): Promise<ExitCode> {
  const files = findFiles(options.files, options.recursive)
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readText(file, io) })))
  const rules = await readAllowHosts(options.allowHosts)
  const documents = texts.flatMap(({ file, text: content }) => readDocuments(file, content))
  // Without --allow-host the allowed hosts are unknown, so they are not checked.
  const checked = lintDocuments(documents, rules.length === 0 ? {} : { isAllowed: (url) => isHostAllowed(url, rules) })
  const nothing = documents.length === 0 ? texts.map(({ file }) => nothingFound(file)) : []
  const result = { ...checked, findings: [...nothing, ...checked.findings] }
  const report =
    options.output === 'json'
      ? `${JSON.stringify(result.findings, null, 2)}\n`
      : lintReport(result, wantsColors(io.out, io.env, options.colors))
  if (options.output === 'json') io.out.write(report)
  else sayLines(io.out, report.trimEnd())
  return result.findings.some(({ level }) => level === 'problem') ? exitCodes.failed : exitCodes.done
}

/** @returns the content of a file; `-` is standard input. @throws {AppError} FILE_UNREADABLE */
export async function readText(file: string, { in: input }: CommandIo): Promise<string> {
  try {
    if (file !== '-') return await textWithin(createReadStream(file))
    return input === undefined ? '' : await textWithin(input)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new AppError('FILE_UNREADABLE', `${file === '-' ? 'standard input' : file} cannot be read: ${why}`, {
      details: { path: file },
      hint: why === TOO_LARGE ? 'Split it into smaller files.' : 'Name a readable file, or - for standard input.',
      cause: error,
    })
  }
}

/** Maximum size of a file: manifests of thousands of objects are smaller, and a device may never end. */
const MOST_BYTES = 64 * 1024 * 1024
const TOO_LARGE = `it is larger than ${MOST_BYTES / 1024 / 1024} MiB`

/** Reads a stream, so that Ctrl-C ends the wait for an idle pipe. */
async function textWithin(input: InputStream): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input) {
    const piece = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    bytes += piece.length
    if (bytes > MOST_BYTES) throw new Error(TOO_LARGE)
    chunks.push(piece)
  }
  return Buffer.concat(chunks).toString('utf8')
}
