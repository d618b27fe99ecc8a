/** A thread that judges one answer after the other, until it is ended. */
import { parentPort } from 'node:worker_threads'
import { judgeAnswer, type JudgedAnswer } from '@tranche/analysis'

parentPort?.on('message', (judged: JudgedAnswer) => parentPort?.postMessage(judgeAnswer(judged)))
