/** Thread entry: evaluates answers sequentially until terminated. */
import { parentPort } from 'node:worker_threads'
import { judgeAnswer, type JudgedAnswer } from '@tranche/analysis'

parentPort?.on('message', (judged: JudgedAnswer) => parentPort?.postMessage(judgeAnswer(judged)))
