// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

interface IMarket {
    function read(bytes32 key) external view returns (uint80 round, int256 answer, uint256 updatedAt);
    function bend(int256 answer) external view returns (int256);
    function sequencer() external view returns (bool down, uint256 since);
}

interface IAnswer {
    function latestAnswer() external view returns (int256);
}

/// A stand-in for a Chainlink price feed's proxy, and for adapters of its form.
contract ChainlinkFeed {
    IMarket private immutable market;
    bytes32 private immutable key;
    uint8 public constant decimals = 8;
    uint256 public constant version = 4;

    constructor(IMarket market_, bytes32 key_) {
        (market, key) = (market_, key_);
    }

    function description() external view returns (string memory) {
        uint256 n = 0;
        while (n < 32 && key[n] != 0) n++;
        bytes memory symbol = new bytes(n);
        for (uint256 i = 0; i < n; i++) symbol[i] = key[i];
        return string.concat(string(symbol), " / USD");
    }

    function latestAnswer() external view returns (int256 answer) {
        (, answer,) = market.read(key);
    }

    function latestTimestamp() external view returns (uint256 updatedAt) {
        (,, updatedAt) = market.read(key);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        (uint80 round, int256 answer, uint256 updatedAt) = market.read(key);
        return (round, answer, updatedAt, updatedAt, round);
    }
}

/// A stand-in for Chainlink's feed of an L2's sequencer: the answer is 0 while it
/// runs and 1 while it is down, and startedAt is when that began.
contract SequencerFeed {
    IMarket private immutable market;
    uint8 public constant decimals = 0;
    string public constant description = "L2 Sequencer Uptime Status Feed";

    constructor(IMarket market_) {
        market = market_;
    }

    function latestAnswer() external view returns (int256) {
        (bool down,) = market.sequencer();
        return down ? int256(1) : int256(0);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        (bool down, uint256 since) = market.sequencer();
        uint80 round = uint80((1 << 64) + since);
        return (round, down ? int256(1) : int256(0), since, since, round);
    }
}

/// A stand-in for the Aave oracle. As there, an asset without a source, or whose
/// source answers with nothing above zero, is handed to a fallback that is not
/// there: the call reverts, and all assets of it with that one.
contract AaveOracle {
    IMarket private immutable market;
    address public constant BASE_CURRENCY = address(0);
    uint256 public constant BASE_CURRENCY_UNIT = 1e8;
    mapping(address => address) public getSourceOfAsset;

    constructor(IMarket market_, address[] memory assets, address[] memory sources) {
        market = market_;
        for (uint256 i = 0; i < assets.length; i++) getSourceOfAsset[assets[i]] = sources[i];
    }

    function getAssetPrice(address asset) public view returns (uint256) {
        address source = getSourceOfAsset[asset];
        require(source != address(0));
        int256 answer = IAnswer(source).latestAnswer();
        require(answer > 0);
        return uint256(market.bend(answer));
    }

    function getAssetsPrices(address[] calldata assets) external view returns (uint256[] memory prices) {
        prices = new uint256[](assets.length);
        for (uint256 i = 0; i < assets.length; i++) prices[i] = getAssetPrice(assets[i]);
    }
}

/// A stand-in for DIA's oracle, which knows prices by names such as "ETH/USD" and
/// answers with zeros where it knows none.
contract DiaOracle {
    IMarket private immutable market;

    constructor(IMarket market_) {
        market = market_;
    }

    function getValue(string calldata name) external view returns (uint128, uint128) {
        bytes calldata text = bytes(name);
        if (text.length < 5 || text.length > 36 || keccak256(text[text.length - 4:]) != keccak256("/USD")) return (0, 0);
        bytes32 key;
        for (uint256 i = 0; i < text.length - 4; i++) key |= bytes32(text[i]) >> (8 * i);
        (, int256 answer, uint256 updatedAt) = market.read(key);
        return answer > 0 ? (uint128(uint256(answer)), uint128(updatedAt)) : (0, uint128(updatedAt));
    }
}
