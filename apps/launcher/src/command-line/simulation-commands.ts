import type { CommandIo, Exit } from '@tranche/cli'
import type { Command } from 'commander'
import { toSimulationOptions } from '../options/simulation-options.ts'
import { withAllowHost } from './allow-host-option.ts'

/** Adds `dev` and `sim`, which run a simulated cluster. */
export function addSimulationCommands(program: Command, io: CommandIo, exit: Exit): void {
  const dev = program
    .command('dev')
    .description('Run a simulated cluster with a controller and an executor in one process, and watch a release.')
  withAllowHost(withSimulationOptions(dev))
    .option('--virtual', 'use virtual time, which jumps to the next event: a long release takes seconds; requires --demo')
    .option('--admission <mode>', 'admission of DaemonSet updates: in-process or none', 'in-process')
    .option('--api-port <p>', 'port of the REST API on 127.0.0.1; 0 picks a free port', '0')
    .option('--demo', 'run a complete release of the demo DaemonSet demo/node-agent')
    .option('-o, --output <format>', 'with --demo: print the result as one JSON object (json)')
    .option('--log <file>', 'write the logs of the simulator, the controller and the executor to this file, as JSON lines')
    .action(async (values: Record<string, unknown>) => {
      const options = toSimulationOptions('dev', values)
      exit(await (await import('../dev/simulate.ts')).simulate(options, io))
    })

  const sim = program.command('sim').description('Run only a simulated cluster, for controllers and executors that run elsewhere.')
  withSimulationOptions(sim)
    .option('--demo', 'run a complete release of the DaemonSet demo/node-agent; requires a controller and an executor that run elsewhere')
    .option('-o, --output <format>', 'with --demo: print the result as one JSON object (json)')
    .option('--log <file>', 'write the log of the simulator to this file, as JSON lines')
    .action(async (values: Record<string, unknown>) => {
      const options = toSimulationOptions('sim', values)
      exit(await (await import('../dev/simulate.ts')).simulate(options, io))
    })
}

function withSimulationOptions(command: Command): Command {
  noteBoth(command)
  return command
    .option('--nodes <n>', 'number of nodes', '30')
    .option('--speed <f>', 'factor by which pods start and stop faster', '1')
    .option('--seed <s>', 'seed of all random choices', '1')
    .option('--port <p>', 'port of the API server on 127.0.0.1; 0 picks a free port', '0')
    .option('--kubeconfig <path>', 'write the kubeconfig to this file; defaults to a new temporary folder')
    .option(
      '--ready-file <path>',
      'write {kubeconfig, apiServer, caFile, token, faults} as JSON once the API server is ready; dev adds {api, apiToken, dashboard}',
    )
    .option('--record <file>', 'record every accepted write to this file, as JSON lines')
    .option('--watch-delay-ms <range>', 'delay of watch events in milliseconds, as MAX or MIN-MAX', '0-20')
    .option('--faults <file>', 'file of faults to inject from the start, as YAML or JSON')
    .option('--faults-port <p>', 'port on 127.0.0.1 for fault injection over HTTP; 0 picks a free port', '0')
    .option('--no-demo', 'start with an empty cluster, without the DaemonSet demo/node-agent and its Rollout')
    .option('--exit', 'with --demo: exit when the release is over, with 0 when it succeeded')
    .option('--no-color', 'disable colours; so does NO_COLOR')
}

/** The parser keeps only the last of `--demo` and `--no-demo`. */
function noteBoth(command: Command): void {
  command.on('option:demo', () => command.setOptionValue('demoAsked', true))
  command.on('option:no-demo', () => command.setOptionValue('demoRefused', true))
}
