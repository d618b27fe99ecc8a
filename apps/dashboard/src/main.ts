console.log('Tranche')
