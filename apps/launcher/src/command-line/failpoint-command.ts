import type { CommandIo } from '@tranche/cli'
import type { Command } from 'commander'

/** Adds `failpoints`, which lists the failpoints of the processes. */
export function addFailpointCommand(program: Command, io: CommandIo): void {
  program
    .command('failpoints')
    .description('List the failpoints that TRANCHE_FAILPOINT can arm, and the commands that reach each.')
    .action(async () => void io.out.write((await import('../failpoints/failpoints.ts')).failpointsText()))
}
